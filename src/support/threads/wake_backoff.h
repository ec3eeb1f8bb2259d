// Decides whether waking a sleeping worker is worth its system call. Waking
// often takes longer than a region lasts, above all on virtual machines and on
// busy ones. As long as woken workers come too late to help, fewer and fewer
// regions try. Used by thread_pool.cpp only. Thread-safe; exact for one thread
// at a time only, which is enough for a heuristic.
#pragma once

#include <algorithm>
#include <atomic>

namespace fxjit::support {

class WakeBackoff {
 public:
  // Asked by a caller when somebody sleeps. After n futile wakes in a row it is
  // true for every 2^n-th call, and at least for every kMaxPeriod-th.
  bool should_wake() {
    int period = period_.load(std::memory_order_relaxed);
    if (period == 1) return true;
    if (skipped_.fetch_add(1, std::memory_order_relaxed) + 1 < period)
      return false;
    skipped_.store(0, std::memory_order_relaxed);
    return true;
  }

  // Called by a worker that goes back to sleep, with whether it helped since it
  // was woken.
  void report(bool useful) {
    int period = period_.load(std::memory_order_relaxed);
    period_.store(useful ? 1 : std::min(period * 2, kMaxPeriod),
                  std::memory_order_relaxed);
  }

  static constexpr int kMaxPeriod = 64;

 private:
  std::atomic<int> period_{1};
  std::atomic<int> skipped_{0};
};

}  // namespace fxjit::support
