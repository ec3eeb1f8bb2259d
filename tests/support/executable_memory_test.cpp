#include "src/support/memory/executable_memory.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#ifndef PR_SET_MDWE  // Since Linux 6.3; Debian 12's headers are older.
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

namespace fxjit::support {
namespace TEST_FILE {

TEST(ExecutableMemory, TheAnswerIsStable) {
  EXPECT_EQ(executable_memory_allowed(), executable_memory_allowed());
}

TEST(ExecutableMemory, DeniedUnderMemoryDenyWriteExecute) {
  if (!executable_memory_allowed())
    GTEST_SKIP() << "this host denies executable memory to begin with";
  constexpr int kDenied = 10;
  constexpr int kAllowed = 11;
  constexpr int kRefusedBase = 20;  // Plus errno.
  pid_t child = fork();             // The setting cannot be taken back.
  if (child == 0) {
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
      _exit(kRefusedBase + errno);
    _exit(executable_memory_allowed() ? kAllowed : kDenied);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  if (WEXITSTATUS(status) >= kRefusedBase)
    GTEST_SKIP() << "the kernel refuses PR_SET_MDWE (before Linux 6.3?): "
                 << std::strerror(WEXITSTATUS(status) - kRefusedBase);
  EXPECT_EQ(WEXITSTATUS(status), kDenied);
  EXPECT_TRUE(executable_memory_allowed());  // Only the child gave it up.
}

// What is lacking then is memory.
TEST(ExecutableMemory, NotDeniedByALackOfMemory) {
  const bool before = executable_memory_allowed();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
    _exit(executable_memory_allowed() == before ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
