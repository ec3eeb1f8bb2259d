// The thread that compiles behind calls, and forks of the process beside it.
#include "src/compile/background.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace fxjit {
namespace TEST_FILE {

std::atomic<int> begun = 0;
std::atomic<int> ended = 0;

// Takes a while to be destroyed, as a module with its weights does.
struct Held {
  ~Held() {
    ++begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++ended;
  }
};

TEST(BackgroundCompiler, ForkWaitsUntilJobIsDestroyed) {
  ASSERT_TRUE(BackgroundCompiler::shared().submit(
      [held = std::make_shared<Held>()] {}));
  while (begun == 0) std::this_thread::yield();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(ended);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace TEST_FILE
}  // namespace fxjit
