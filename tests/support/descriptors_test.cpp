#include "src/support/disk/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "src/support/disk/atomic_file.h"
#include "src/support/disk/trusted_file.h"

namespace fxjit::support {
namespace {

TEST(Descriptors, StandardOnesAreLeftFree) {
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  const int moved = above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_GT(moved, STDERR_FILENO);
  EXPECT_NE(fcntl(moved, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(above_standard(moved), moved);
  EXPECT_EQ(above_standard(-1), -1);
  const std::string path = ::testing::TempDir() + "/fxjit_descriptors";
  AtomicFile written(path);
  EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
  const TrustedFile read("/proc/self/exe");
  EXPECT_EQ(fcntl(STDIN_FILENO, F_GETFD), -1);
  close(moved);
  if (input >= 0) dup2(input, STDIN_FILENO);
  close(input);
}

}  // namespace
}  // namespace fxjit::support
