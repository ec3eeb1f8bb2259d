// Linux futex calls of the thread pool and of sections. Private to this
// process; interrupted and spurious returns are the caller's to expect: always
// recheck the word.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace fxjit::support {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// Sleeps while `word` holds `expected`.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// The same for at most `time`, which is not negative.
inline void futex_wait_for(std::atomic<uint32_t>& word, uint32_t expected,
                           std::chrono::nanoseconds time) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec limit{whole.count(), (time - whole).count()};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &limit, nullptr, 0);
}

// Wakes up to `count` threads that sleep on `word`.
inline void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace fxjit::support
