#include "src/support/threads/section.h"

#include <pthread.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <mutex>
#include <utility>

#include "src/support/threads/futex.h"

namespace fxjit::support {
namespace {

using Clock = std::chrono::steady_clock;

// The number of threads inside sections, and the number of threads that fork.
// Each side changes its own number first and then reads the other's, so that at
// least one of two threads sees both changes.
constinit std::atomic<uint32_t> inside{0};
constinit std::atomic<uint32_t> forking{0};

constinit thread_local uint32_t depth = 0;
constinit thread_local bool helper = false;

void step_out() {
  inside.fetch_sub(1);
  if (forking.load() != 0) futex_wake(inside, INT_MAX);
}

void wait_for_forks() {
  while (const uint32_t seen = forking.load()) futex_wait(forking, seen);
}

}  // namespace

void begin_section() noexcept {
  if (depth++ > 0) return;
  for (;;) {
    inside.fetch_add(1);
    if (helper || forking.load() == 0) return;
    step_out();
    wait_for_forks();
  }
}

void end_section() noexcept {
  if (--depth == 0) step_out();
}

bool in_section() noexcept { return depth > 0 || helper; }

HelperScope::HelperScope(bool helps)
    : outer_(std::exchange(helper, helper || helps)) {}
HelperScope::~HelperScope() { helper = outer_; }

// The list of all ForkReset objects, and what runs before and after fork().
class ForkResets {
 public:
  static void add(ForkReset& reset) {
    const std::lock_guard lock(mutex_);
    reset.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &reset;
    first_ = &reset;
  }

  static void remove(ForkReset& reset) {
    const std::lock_guard lock(mutex_);
    if (reset.next_ != nullptr) reset.next_->previous_ = reset.previous_;
    (reset.previous_ != nullptr ? reset.previous_->next_ : first_) =
        reset.next_;
  }

  static void before_fork() {
    forking.fetch_add(1);
    // If this thread itself is inside a section, it forks from a callback; its
    // own section must not be waited for.
    const uint32_t own = depth > 0 ? 1 : 0;
    const auto deadline = Clock::now() + kLongestForkWait;
    for (uint32_t seen = inside.load(); seen > own; seen = inside.load()) {
      const auto left = deadline - Clock::now();
      if (left <= Clock::duration::zero()) return;
      futex_wait_for(inside, seen, left);
    }
  }

  static void after_fork() {
    if (forking.fetch_sub(1) == 1) futex_wake(forking, INT_MAX);
  }

  static void in_child() {
    forking.store(0);
    inside.store(depth > 0 ? 1 : 0);
    for (ForkReset* reset = first_; reset != nullptr; reset = reset->next_)
      reset->reset_(reset->object_);
  }

 private:
  static constinit std::mutex mutex_;
  static constinit ForkReset* first_;
};

constinit std::mutex ForkResets::mutex_;
constinit ForkReset* ForkResets::first_ = nullptr;

ForkReset::ForkReset(Function reset, void* object)
    : reset_(reset), object_(object) {
  ForkResets::add(*this);
}

ForkReset::~ForkReset() { ForkResets::remove(*this); }

namespace {

// Runs when the library is loaded, so that beginning a section need not check
// whether forks are watched. Fails only without memory; forks then go
// unnoticed.
[[gnu::constructor]] void watch_forks() {
  pthread_atfork(ForkResets::before_fork, ForkResets::after_fork,
                 ForkResets::in_child);
}

}  // namespace
}  // namespace fxjit::support
