// A few objects kept for reuse by whoever calls next, without a lock. Used for
// what a call needs to itself (argument handles, working memory): concurrent
// callers each take their own, and what finds no free slot is destroyed.
#pragma once

#include <array>
#include <atomic>
#include <memory>

namespace fxjit::support {

template <typename T, int kSlots = 8>
class SpareSlots {
 public:
  SpareSlots() = default;
  SpareSlots(const SpareSlots&) = delete;
  SpareSlots& operator=(const SpareSlots&) = delete;
  ~SpareSlots() {
    for (auto& slot : slots_) delete slot.exchange(nullptr);
  }

  // Null when none is kept.
  std::unique_ptr<T> take() {
    for (auto& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* kept = slot.exchange(nullptr, std::memory_order_acquire))
        return std::unique_ptr<T>(kept);
    }
    return nullptr;
  }

  void give(std::unique_ptr<T> object) {
    for (auto& slot : slots_) {
      T* expected = nullptr;
      if (slot.compare_exchange_strong(expected, object.get(),
                                       std::memory_order_release,
                                       std::memory_order_relaxed)) {
        object.release();
        return;
      }
    }
  }

 private:
  std::array<std::atomic<T*>, kSlots> slots_{};
};

}  // namespace fxjit::support
