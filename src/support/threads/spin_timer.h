// Polling for a bounded time. Used by the thread pool and by short spin locks;
// reads the clock only now and then, since that costs more than a poll.
#pragma once

#include <chrono>
#include <thread>

namespace fxjit::support {

// Tells the core that it waits: saves power, frees a sibling hyper-thread.
inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  std::this_thread::yield();
#endif
}

class SpinTimer {
 public:
  static constexpr int kPollsPerCheck = 32;

  explicit SpinTimer(std::chrono::nanoseconds limit) : limit_(limit) {}

  void restart() {
    polls_ = 0;
    running_ = false;
  }

  // Pauses once. True at every kPollsPerCheck-th poll, the moment for checks
  // that are too expensive for each.
  bool pause() {
    cpu_pause();
    return ++polls_ % kPollsPerCheck == 0;
  }

  // Whether the limit has passed since the first call after restart().
  bool expired() {
    auto now = std::chrono::steady_clock::now();
    if (!running_) {
      running_ = true;
      start_ = now;
    }
    return now - start_ >= limit_;
  }

 private:
  std::chrono::nanoseconds limit_;
  std::chrono::steady_clock::time_point start_;
  unsigned polls_ = 0;
  bool running_ = false;
};

}  // namespace fxjit::support
