// What one region promises to its caller.
#include "fxjit/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "fxjit/log.h"
#include "src/support/machine/cpu_quota.h"
#include "tests/support/thread_pool_testing.h"

namespace fxjit::support {
namespace TEST_FILE {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Blocks threads until opened.
class Door {
 public:
  void open() {
    open_ = true;
    open_.notify_all();
  }
  void pass() const { open_.wait(false); }

 private:
  std::atomic<bool> open_{false};
};

TEST(ThreadPool, RunsEveryTaskOnceForAllSizesAndChunks) {
  ThreadPool pool({.threads = 4});
  for (int64_t tasks : {1, 2, 3, 7, 64, 1000, 4095, 4096, 100000})
    for (int threads : {1, 2, 3, 4, 9})
      for (int64_t chunk : {1, 2, 5, 4096}) {
        SCOPED_TRACE(::testing::Message() << tasks << " tasks, " << threads
                                        << " threads, chunk " << chunk);
        run_and_check(pool, tasks, threads, chunk);
      }
}

TEST(ThreadPool, RunsNothingForNoTasks) {
  ThreadPool pool({.threads = 2});
  for (int64_t tasks : {int64_t{0}, int64_t{-5}})
    pool.parallel_for(
        tasks, [](int64_t, int64_t, int) { FAIL() << "called"; }, 2);
}

TEST(ThreadPool, CoversHugeTaskCountsWithoutOverflow) {
  ThreadPool pool({.threads = 2});
  constexpr int64_t kTasks = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> total{0};
  pool.parallel_for(
      kTasks, [&](int64_t begin, int64_t end, int) { total += end - begin; },
      2);
  EXPECT_EQ(total, kTasks);
}

TEST(ThreadPool, KeepsChunksWithinTheAskedSize) {
  ThreadPool pool({.threads = 3});
  pool.parallel_for(
      100,
      [](int64_t begin, int64_t end, int) {
        EXPECT_EQ(begin % 7, 0);
        EXPECT_EQ(end, std::min<int64_t>(begin + 7, 100));
      },
      3, 7);
}

TEST(ThreadPool, OneThreadRunsInlineInOneCall) {
  ThreadPool pool({.threads = 4});
  int calls = 0;  // Unsynchronised on purpose.
  auto caller = std::this_thread::get_id();
  pool.parallel_for(
      1000,
      [&](int64_t begin, int64_t end, int thread) {
        ++calls;
        EXPECT_EQ(begin, 0);
        EXPECT_EQ(end, 1000);
        EXPECT_EQ(thread, 0);
        EXPECT_EQ(std::this_thread::get_id(), caller);
      },
      1);
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, WorkersTakePart) {
  for (auto spin : {microseconds(0), microseconds(60), microseconds(10000)}) {
    ThreadPool pool({.threads = 2, .spin = spin});
    run_until_worker_joined(pool, [] {});
  }
}

TEST(ThreadPool, StaysInlineWhileRequestsFillTheCpus) {
  ThreadPool pool({.threads = 2});
  ThreadPool::RequestScope mine(pool);
  ThreadPool::RequestScope nested(pool);  // Counts once.
  run_until_worker_joined(pool, [] {});
  Door entered;
  Door leave;
  std::thread other([&] {
    ThreadPool::RequestScope scope(pool);
    entered.open();
    leave.pass();
  });
  entered.pass();
  for (int region = 0; region < 200; ++region)
    pool.parallel_for(
        16,
        [](int64_t begin, int64_t end, int thread) {
          EXPECT_EQ(begin, 0);
          EXPECT_EQ(end, 16);
          EXPECT_EQ(thread, 0);
        },
        2);
  leave.open();
  other.join();
  run_until_worker_joined(pool, [] {});
}

TEST(ThreadPool, NestedRegionsRunInline) {
  ThreadPool pool({.threads = 3});
  ThreadPool other({.threads = 3});
  std::atomic<int64_t> inner_tasks{0};
  pool.parallel_for(
      12,
      [&](int64_t begin, int64_t end, int) {
        auto outer = std::this_thread::get_id();
        for (int64_t i = begin; i < end; ++i)
          for (ThreadPool* inner : {&pool, &other})
            inner->parallel_for(
                10,
                [&](int64_t first, int64_t last, int thread) {
                  EXPECT_EQ(std::this_thread::get_id(), outer);
                  EXPECT_EQ(thread, 0);
                  inner_tasks += last - first;
                },
                3);
      },
      3);
  EXPECT_EQ(inner_tasks, 12 * 2 * 10);
  run_until_worker_joined(pool, [] {});  // Not inline for ever.
}

// Hooks have no context; this one's.
std::atomic<bool> worker_stuck{false};
std::atomic<bool> worker_freed{false};

TEST(ThreadPool, AWorkerThatHasClaimedNothingDelaysNobody) {
  worker_stuck = worker_freed = false;
  ThreadPool pool({.threads = 2, .spin = microseconds(10)});
  pool.on_thread_start([] {
    worker_stuck = true;
    worker_freed.wait(false);
  });
  while (!worker_stuck) run_and_check(pool, 10, 2, 1);
  // The only worker hangs before its claim; every region still ends.
  for (int region = 0; region < 1000; ++region) run_and_check(pool, 10, 2, 1);
  worker_freed = true;
  worker_freed.notify_all();
  run_until_worker_joined(pool, [] {});
}

TEST(ThreadPool, WaitsForAClaimedChunkOfASlowWorker) {
  // Longer than the caller's spin, so that it sleeps and has to be woken.
  ThreadPool pool({.threads = 2, .spin = microseconds(5)});
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> claimed{false};
    std::atomic<bool> finished{false};
    pool.parallel_for(
        2,
        [&](int64_t, int64_t, int thread) {
          if (thread == 0) {  // Gives the worker the time to join.
            for (int i = 0; i < 1000 && !claimed; ++i)
              std::this_thread::sleep_for(microseconds(100));
          } else {
            claimed = true;
            std::this_thread::sleep_for(milliseconds(3));
            finished = true;
          }
        },
        2);
    EXPECT_EQ(claimed, finished);
  }
}

TEST(ThreadPool, AHookMayThrowAnything) {
  ThreadPool pool({.threads = 2});
  if (pool.size() < 2) GTEST_SKIP() << "the system gives no thread";
  std::atomic<int> errors = 0;
  set_log_callback([&](LogLevel level, std::string_view message) {
    errors += level == LogLevel::error &&
              message == "[thread_pool] a start hook failed: an exception of "
                         "type int";
  });
  pool.on_thread_start([] { throw 42; });
  run_until_worker_joined(pool, [] {});
  run_until_worker_joined(pool, [] {});
  set_log_callback({});
  EXPECT_EQ(errors, 1);
}

TEST(ThreadPool, SizesAreWithinBounds) {
  EXPECT_EQ(ThreadPool({.threads = 1}).size(), 1);
  EXPECT_EQ(ThreadPool({.threads = 3}).size(), 3);
  EXPECT_EQ(ThreadPool().size(),
            std::min(available_cpus(), ThreadPool::kMaxThreads));
  EXPECT_EQ(&ThreadPool::shared(), &ThreadPool::shared());
  run_and_check(ThreadPool::shared(), 1000, 64, 1);
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
