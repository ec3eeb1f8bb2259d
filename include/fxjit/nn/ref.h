// Ref<T>: the shared handle by which modules are held and called: `m(x)`.
#pragma once

#include <concepts>
#include <memory>
#include <source_location>
#include <utility>

#include "fxjit/error.h"
#include "fxjit/nn/call_arg.h"
#include "fxjit/nn/deep_copy.h"

namespace fxjit::nn {

namespace detail {
[[noreturn]] void throw_null_module();
[[noreturn]] void throw_null_call(SourceLocation source);
}  // namespace detail

// A default-made handle is null; using its module is a TypeError.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::shared_ptr<T> module) : module_(std::move(module)) {}  // NOLINT
  // A handle of the same module, or of its copy (see deep_copy.h).
  Ref(const Ref& other) : module_(detail::copied_handle(other.module_)) {}
  Ref(Ref&&) noexcept = default;
  Ref& operator=(const Ref&) = default;
  Ref& operator=(Ref&&) noexcept = default;
  template <typename U>
    requires std::convertible_to<U*, T*>
  Ref(const Ref<U>& other) : module_(other.ptr()) {}  // NOLINT
  template <typename U>
    requires std::convertible_to<U*, T*>
  Ref(std::shared_ptr<U> module) : module_(std::move(module)) {}  // NOLINT

  T* get() const { return module_.get(); }
  T& operator*() const { return *operator->(); }
  T* operator->() const {
    if (!module_) [[unlikely]]
      detail::throw_null_module();
    return module_.get();
  }
  const std::shared_ptr<T>& ptr() const { return module_; }
  explicit operator bool() const { return module_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) {
    return a.module_ == b.module_;
  }

  // Module::operator().
  Value operator()(
      SourceLocation source = std::source_location::current()) const;
  Value operator()(CallArg a) const;
  Value operator()(CallArg a, CallArg b, CallArg c = {}, CallArg d = {},
                   CallArg e = {}, CallArg f = {}, CallArg g = {},
                   CallArg h = {}) const;

 private:
  std::shared_ptr<T> module_;  // Shared: a module may have several parents.
};

}  // namespace fxjit::nn
