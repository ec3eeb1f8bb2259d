// Where idle workers sleep: a counting semaphore whose waker first takes the
// sleepers it wakes off the count, so that it never wakes anybody twice and
// pays no system call when nobody sleeps. Used by thread_pool.cpp only.
#pragma once

#include <algorithm>
#include <atomic>
#include <climits>

#include "src/support/threads/futex.h"

namespace fxjit::support {

class SleepGate {
 public:
  // Worker: announce, check once more that there is no reason to stay awake,
  // then either cancel() or sleep(). The announcement and the waker's
  // sleepers() are sequentially consistent: one of the two sees the other.
  void announce() { sleepers_.fetch_add(1, std::memory_order_seq_cst); }

  // False when a waker has counted on this worker already: then sleep(),
  // which returns at once.
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

  // Waker: wakes up to `count` sleepers.
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
