// Many regions, callers and pools; run under the thread sanitizer too.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "fxjit/thread_pool.h"
#include "tests/support/thread_pool_testing.h"

namespace fxjit::support {
namespace TEST_FILE {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(ThreadPool, WritesOfWorkersAreVisibleAfterwards) {
  ThreadPool pool({.threads = 4});
  std::vector<int64_t> values(4096);
  for (int round = 1; round <= 500; ++round) {
    pool.parallel_for(
        static_cast<int64_t>(values.size()),
        [&](int64_t begin, int64_t end, int) {
          for (int64_t i = begin; i < end; ++i) values[i] += i;
        },
        4, 256);
    ASSERT_EQ(values[4095], 4095 * round);
    ASSERT_EQ(values[17], 17 * round);
  }
}

TEST(ThreadPool, ThousandsOfRegionsBackToBack) {
  ThreadPool pool({.threads = 3});
  std::atomic<int64_t> sum{0};
  int64_t expected = 0;
  for (int region = 0; region < 20000; ++region) {
    int64_t tasks = 2 + region % 7;
    expected += tasks;
    pool.parallel_for(
        tasks,
        [&](int64_t begin, int64_t end, int) {
          sum.fetch_add(end - begin, std::memory_order_relaxed);
        },
        1 + region % 4);
    ASSERT_EQ(sum, expected);
  }
}

TEST(ThreadPool, ManyCallersAtTheSameTime) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool({.threads = threads, .spin = microseconds(20)});
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 8; ++caller) {
      callers.emplace_back([&pool, caller] {
        for (int region = 0; region < 300; ++region) {
          int64_t tasks = 1 + (region * 37 + caller * 11) % 700;
          run_and_check(pool, tasks, 1 + (region + caller) % 5, 1 + region % 3);
          if (region % 64 == caller)
            std::this_thread::sleep_for(microseconds(200));
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
}

TEST(ThreadPool, SimultaneousRegionsEachGetAWorker) {
  ThreadPool pool({.threads = 4});
  // Each caller stays in its region for a while, in the hope that a worker
  // joins both; no single region is promised one.
  std::atomic<int> joined{0};
  auto caller = [&] {
    pool.parallel_for(
        2,
        [&](int64_t, int64_t, int thread) {
          if (thread == 1) ++joined;
          for (int i = 0; i < 100 && joined < 2; ++i)
            std::this_thread::sleep_for(microseconds(100));
        },
        2);
  };
  while (joined < 2) {
    joined = 0;
    std::thread first(caller);
    std::thread second(caller);
    first.join();
    second.join();
  }
}

TEST(ThreadPool, ManyCallersWithRequestScopes) {
  ThreadPool pool({.threads = 3});
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&pool] {
      for (int request = 0; request < 100; ++request) {
        ThreadPool::RequestScope scope(pool);
        for (int region = 0; region < 5; ++region)
          run_and_check(pool, 50, 3, 1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  run_until_worker_joined(pool, [] {});  // All scopes were left.
}

TEST(ThreadPool, RegionsAfterWorkersHaveGoneToSleep) {
  ThreadPool pool({.threads = 3, .spin = microseconds(1)});
  for (int round = 0; round < 100; ++round) {
    std::this_thread::sleep_for(microseconds(round * 10));
    run_and_check(pool, 20, 3, 1);
  }
  run_until_worker_joined(pool, [] {});
}

TEST(ThreadPool, DestroyedAtAnyMomentOfItsWorkers) {
  for (int round = 0; round < 200; ++round) {
    ThreadPool pool({.threads = 3, .spin = microseconds(round % 4 * 20)});
    if (round % 3 != 0) run_and_check(pool, 9, 3, 1);
    if (round % 5 == 0) std::this_thread::sleep_for(milliseconds(1));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
