// The pool as part of a process: its threads, hooks, fork and exit.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

#include "fxjit/error.h"
#include "fxjit/thread_pool.h"
#include "tests/support/sanitizers.h"
#include "tests/support/thread_pool_testing.h"

namespace fxjit::support {
namespace TEST_FILE {

TEST(ThreadPool, WorkersAreNamedPinnedAndSilent) {
  ThreadPool pool({.threads = 2});
  cpu_set_t mine;
  sched_getaffinity(0, sizeof(mine), &mine);
  std::string name;
  bool same_affinity = false;
  sigset_t blocked;
  run_until_worker_joined(pool, [&] {
    char text[16];
    pthread_getname_np(pthread_self(), text, sizeof(text));
    name = text;
    cpu_set_t its;
    sched_getaffinity(0, sizeof(its), &its);
    same_affinity = CPU_EQUAL(&mine, &its);
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  });
  EXPECT_EQ(name, "fxjit-1");
  EXPECT_TRUE(same_affinity);
  for (int number : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD})
    EXPECT_TRUE(sigismember(&blocked, number)) << number;
  for (int number : {SIGSEGV, SIGFPE})
    EXPECT_FALSE(sigismember(&blocked, number)) << number;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_FALSE(sigismember(&blocked, SIGINT));
}

// How many threads ran each hook.
std::atomic<int> early_runs{0};
std::atomic<int> late_runs{0};
thread_local bool late_ran = false;

TEST(ThreadPool, HooksRunOncePerWorkerBeforeItsTasks) {
  early_runs = late_runs = 0;
  ThreadPool pool({.threads = 3});
  auto early = [] { ++early_runs; };
  auto late = [] {
    ++late_runs;
    late_ran = true;
  };
  pool.on_thread_start(early);
  run_until_worker_joined(pool, [] { EXPECT_GE(early_runs, 1); });
  pool.on_thread_start(late);
  pool.on_thread_start(late);
  for (int region = 0; region < 200; ++region)
    pool.parallel_for(
        8,
        [](int64_t, int64_t, int thread) {
          if (thread > 0) {
            EXPECT_TRUE(late_ran);
          } else {
            EXPECT_FALSE(late_ran);
          }
        },
        3);
  run_until_worker_joined(pool, [] {});
  EXPECT_LE(early_runs, 2);
  EXPECT_GE(late_runs, 1);
  EXPECT_LE(late_runs, 2);
}

template <int N>
void numbered_hook() {}

TEST(ThreadPool, TooManyHooksAreRefused) {
  ThreadPool pool({.threads = 1});
  void (*hooks[])() = {numbered_hook<0>, numbered_hook<1>, numbered_hook<2>,
                       numbered_hook<3>, numbered_hook<4>, numbered_hook<5>,
                       numbered_hook<6>, numbered_hook<7>};
  static_assert(std::size(hooks) == ThreadPool::kMaxHooks);
  for (auto hook : hooks) pool.on_thread_start(hook);
  pool.on_thread_start(hooks[3]);  // Known already.
  EXPECT_THROW(pool.on_thread_start(numbered_hook<8>), RuntimeError);
}

// Runs `body` in a forked child; its result is the exit status.
template <typename Body>
int exit_status_of_child(Body body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(20);  // A hang must not outlive the test.
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

int count_threads() {
  const auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// TSan allows no new ones after a fork.
constexpr int kThreadsOfChild = testing::kThreadSanitizer ? 1 : 3;

// The threads of the child, once its first region has run.
int threads_of_child(ThreadPool& pool) {
  if (count_threads() != 1) return 0;
  run_and_check(pool, 64, 3, 1);
  if (kThreadsOfChild > 1) run_until_worker_joined(pool, [] {});
  return count_threads();
}

TEST(ThreadPool, AForkedChildGetsItsThreadsBack) {
  auto pool = std::make_unique<ThreadPool>(ThreadPool::Options{.threads = 3});
  run_until_worker_joined(*pool, [] {});
  const int status = exit_status_of_child([&] {
    const int threads = threads_of_child(*pool);
    // A child of the child likewise.
    const int inner = exit_status_of_child([&] {
      const int again = threads_of_child(*pool);
      pool.reset();
      return again;
    });
    {
      ThreadPool::RequestScope scope(*pool);
    }
    pool.reset();  // Does not wait for threads of the parent.
    return threads == kThreadsOfChild && inner == kThreadsOfChild ? 7 : 1;
  });
  EXPECT_EQ(status, 7);
  run_until_worker_joined(*pool, [] {});  // The parent's is untouched.
}

TEST(ThreadPool, HooksRunOnThreadsOfAForkedChild) {
  static std::atomic<int> hooked{0};
  ThreadPool pool({.threads = 2});
  pool.on_thread_start([] { ++hooked; });
  run_until_worker_joined(pool, [] {});
  const int status = exit_status_of_child([&] {
    hooked = 0;
    threads_of_child(pool);
    return hooked + 7;
  });
  EXPECT_EQ(status, kThreadsOfChild > 1 ? 8 : 7);
}

TEST(ThreadPool, AForkedChildMayMakeItsOwnPool) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoThreadsAfterFork;
  ThreadPool parent({.threads = 2});
  // Under g++ 12's AddressSanitizer a thread that begins holds a lock of its
  // allocator, which no child forked in that moment gets back.
  run_until_worker_joined(parent, [] {});
  int status = exit_status_of_child([] {
    ThreadPool pool({.threads = 2});
    run_until_worker_joined(pool, [] {});
    return 7;
  });
  EXPECT_EQ(status, 7);
}

TEST(ThreadPoolDeathTest, ExitWhileTheSharedPoolIsAwake) {
  EXPECT_EXIT(
      {
        for (int i = 0; i < 100; ++i)
          run_and_check(ThreadPool::shared(), 64, 4, 1);
        std::exit(3);
      },
      ::testing::ExitedWithCode(3), "");
}

TEST(ThreadPoolDeathTest, AnExceptionOutOfATaskTerminates) {
  EXPECT_DEATH(
      {
        ThreadPool pool({.threads = 2});
        pool.parallel_for(4, [](int64_t, int64_t, int) { throw 1; }, 2);
      },
      "");
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
