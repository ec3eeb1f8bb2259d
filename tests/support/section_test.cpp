// Sections and fork(): a child never begins while another thread is inside one.
#include "src/support/threads/section.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "src/support/threads/own_stack.h"

namespace fxjit::support {
namespace TEST_FILE {

// The result of `child`, run in one, as its exit code; -1 when it hangs.
int in_child(const std::function<int()>& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit(child());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

// Forks while another thread is somewhere in `work`, which calls its argument
// in the middle; true when the child found it ended.
bool fork_sees_the_end_of(
    const std::function<void(const std::function<void()>&)>& work) {
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  std::thread other([&] {
    work([&] {
      begun = true;
      pause();
      ended = true;
    });
  });
  while (!begun) std::this_thread::yield();
  const bool seen = in_child([&] { return ended ? 1 : 0; }) == 1;
  other.join();
  return seen;
}

TEST(Section, ForkWaitsForItsEnd) {
  EXPECT_TRUE(fork_sees_the_end_of([](const auto& middle) {
    const Section outer;
    const Section inner;
    middle();
  }));
}

TEST(Section, LocksAreSections) {
  std::mutex mutex;
  EXPECT_TRUE(fork_sees_the_end_of([&](const auto& middle) {
    const std::lock_guard lock(mutex);
    middle();
  }));
  EXPECT_TRUE(fork_sees_the_end_of([&](const auto& middle) {
    const std::unique_lock lock(mutex, std::try_to_lock);
    ASSERT_TRUE(lock);
    middle();
  }));
  std::shared_mutex shared;
  EXPECT_TRUE(fork_sees_the_end_of([&](const auto& middle) {
    const std::shared_lock lock(shared);
    middle();
  }));
  EXPECT_TRUE(fork_sees_the_end_of([&](const auto& middle) {
    const std::unique_lock lock(shared);
    middle();
  }));
}

TEST(Section, InitialisationsAreSections) {
  std::once_flag once;
  EXPECT_TRUE(fork_sees_the_end_of(
      [&](const auto& middle) { std::call_once(once, middle); }));
  EXPECT_TRUE(fork_sees_the_end_of([](const auto& middle) {
    static const bool made = (middle(), true);
    EXPECT_TRUE(made);
  }));
}

TEST(Section, AFailedInitialisationEndsIts) {
  const auto fail = [] {
    static const bool made = (throw 42, true);
    return made;
  };
  EXPECT_THROW(fail(), int);
  EXPECT_FALSE(in_section());
  std::once_flag once;
  EXPECT_THROW(std::call_once(once, [] { throw 42; }), int);
  EXPECT_FALSE(in_section());
}

TEST(Section, ForkWaitsNotForItsOwn) {
  const Section section;
  EXPECT_EQ(in_child([] {
    const Section inner;
    return in_section() ? 3 : 4;
  }), 3);
}

// The owner of the section waits for the helper, fork() for the owner.
TEST(Section, HelpersGoOnWhileForkWaits) {
  EXPECT_TRUE(fork_sees_the_end_of([](const auto& middle) {
    const Section section;
    const StackThread helper(size_t{1} << 18, [&] {
      const HelperScope scope;
      middle();  // fork() waits by then.
      const Section of_the_helper;
    });
  }));
}

TEST(Section, OthersWaitUntilTheForkIsOver) {
  std::mutex mutex;
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) const std::lock_guard lock(mutex);
  });
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(in_child([&] {
      const std::lock_guard lock(mutex);
      return 5;
    }), 5);
  done = true;
  other.join();
}

TEST(ForkReset, RunsInTheChildWhileItLives) {
  int count = 0;
  const auto add = [](void* n) { ++*static_cast<int*>(n); };
  const ForkReset first(add, &count);
  auto second = std::make_unique<const ForkReset>(add, &count);
  const ForkReset third(add, &count);
  EXPECT_EQ(in_child([&] { return count; }), 3);
  second.reset();
  EXPECT_EQ(in_child([&] { return count; }), 2);
  EXPECT_EQ(count, 0);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
