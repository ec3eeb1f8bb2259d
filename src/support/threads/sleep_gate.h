// Where idle workers of the thread pool sleep: a counting semaphore. A waker
// first takes the sleepers that it wakes off the count. So nobody is woken
// twice, and waking costs no system call when nobody sleeps. Used by
// thread_pool.cpp only.
#pragma once

#include <algorithm>
#include <atomic>
#include <climits>

#include "src/support/threads/futex.h"

namespace fxjit::support {

class SleepGate {
 public:
  // Called by a worker before it sleeps. It must then check once more that
  // there is no work, and call either cancel() or sleep(). The announcement and
  // a waker's sleepers() are sequentially consistent, so at least one of the
  // two threads sees the other.
  void announce() { sleepers_.fetch_add(1, std::memory_order_seq_cst); }

  // Called by a worker that found work after announce(). Returns false if a
  // waker has counted on it already; it must then call sleep(), which returns
  // at once.
  bool cancel() { return take(1) == 1; }

  void sleep() {
    for (;;) {
      uint32_t tokens = tokens_.load(std::memory_order_relaxed);
      if (tokens == 0)
        futex_wait(tokens_, 0);
      else if (tokens_.compare_exchange_weak(tokens, tokens - 1,
                                             std::memory_order_acquire))
        return;
    }
  }

  int sleepers() const { return sleepers_.load(std::memory_order_seq_cst); }

  // Called by a waker: wakes up to `count` sleepers.
  void wake(int count) {
    int taken = take(count);
    if (taken == 0) return;
    tokens_.fetch_add(taken, std::memory_order_release);
    futex_wake(tokens_, taken);
  }
  void wake_all() { wake(INT_MAX); }

 private:
  int take(int count) {
    int sleepers = sleepers_.load(std::memory_order_seq_cst);
    for (;;) {
      int taken = std::min(count, sleepers);
      if (taken == 0) return 0;
      if (sleepers_.compare_exchange_weak(sleepers, sleepers - taken,
                                          std::memory_order_acq_rel))
        return taken;
    }
  }

  alignas(128) std::atomic<int> sleepers_{0};
  alignas(128) std::atomic<uint32_t> tokens_{0};
};

}  // namespace fxjit::support
