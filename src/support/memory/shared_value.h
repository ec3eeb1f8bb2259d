// A value that the copies of its handle share until one of them changes it:
// programs have many equal parts, and to copy each would take most of their
// memory and of the time to plan them.
#pragma once

#include <memory>
#include <utility>

namespace fxjit::support {

template <typename T>
class SharedValue {
 public:
  SharedValue() : SharedValue(T()) {}
  SharedValue(T value) : held_(std::make_shared<T>(std::move(value))) {}

  const T& operator*() const { return *held_; }
  const T* operator->() const { return held_.get(); }
  // Null only after a move.
  const T* get() const { return held_.get(); }

  // This handle's own value, a copy if others share it. Not while other threads
  // copy the handle.
  T& change() {
    if (held_.use_count() > 1) held_ = std::make_shared<T>(*held_);
    return *held_;
  }

  friend bool operator==(const SharedValue& a, const SharedValue& b) {
    return a.held_ == b.held_ || *a.held_ == *b.held_;
  }

 private:
  std::shared_ptr<T> held_;
};

}  // namespace fxjit::support
