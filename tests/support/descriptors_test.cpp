#include "src/support/disk/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "src/support/disk/atomic_file.h"
#include "src/support/disk/trusted_file.h"

namespace fxjit::support {
namespace TEST_FILE {

TEST(Descriptors, StandardOnesAreLeftFree) {
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  Descriptor moved("/dev/null", O_RDONLY);
  EXPECT_GT(moved.number(), STDERR_FILENO);
  EXPECT_NE(fcntl(moved.number(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE(Descriptor("/dev/null/none", O_RDONLY).open());
  EXPECT_EQ(errno, ENOTDIR);
  const std::string path = ::testing::TempDir() + "/fxjit_descriptors";
  AtomicFile written(path);
  EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
  const TrustedFile read("/proc/self/exe");
  EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
  if (input >= 0) dup2(input, STDIN_FILENO);
  close(input);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
