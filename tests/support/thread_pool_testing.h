// What the tests of the thread pool share: waiting for a worker, and a ledger
// that checks what every task is given.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "fxjit/thread_pool.h"

namespace fxjit::support {

// Runs a region until a worker has taken part in it, as one may miss any
// single region. `body` runs on every thread.
template <typename Body>
void run_until_worker_joined(ThreadPool& pool, Body body) {
  std::atomic<bool> joined{false};
  while (!joined) {
    pool.parallel_for(
        64,
        [&](int64_t, int64_t, int thread) {
          if (thread > 0) {
            body();
            joined = true;
          }
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        },
        2);
  }
}

// Counts every task of a region and checks what each call is given.
class Ledger {
 public:
  Ledger(int64_t tasks, int threads) : runs_(tasks), busy_(threads) {}

  void run(int64_t begin, int64_t end, int thread) {
    if (thread < 0 || thread >= static_cast<int>(busy_.size()) || begin < 0 ||
        begin >= end || end > static_cast<int64_t>(runs_.size()) ||
        busy_[thread].exchange(true)) {
      ++faults_;
      return;
    }
    for (int64_t i = begin; i < end; ++i) ++runs_[i];  // Not atomic: a claim
    busy_[thread] = false;                             // is exclusive.
  }

  void expect_each_once() const {
    EXPECT_EQ(faults_, 0);
    for (size_t i = 0; i < runs_.size(); ++i)
      ASSERT_EQ(runs_[i], 1) << "task " << i;
  }

 private:
  std::vector<int> runs_;
  std::vector<std::atomic<bool>> busy_;
  std::atomic<int> faults_{0};
};

inline void run_and_check(ThreadPool& pool, int64_t tasks, int threads,
                          int64_t chunk) {
  Ledger ledger(tasks, std::max(threads, 1));
  pool.parallel_for(
      tasks,
      [&](int64_t begin, int64_t end, int thread) {
        ledger.run(begin, end, thread);
      },
      threads, chunk);
  ledger.expect_each_once();
}

}  // namespace fxjit::support
