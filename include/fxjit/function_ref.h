// FunctionRef: a callable that somebody else owns, passed down to a function
// that calls it before it returns. Costs one indirect call and no memory, and
// keeps the function that takes it from being a template. Never kept longer
// than the call that it was given to.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace fxjit {

template <typename Signature>
class FunctionRef;

template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
 public:
  // `fn` has to outlive the reference, as a lambda written in the call does.
  template <typename Fn>
    requires(!std::is_same_v<std::remove_cvref_t<Fn>, FunctionRef> &&
             std::is_invocable_r_v<Result, Fn&, Args...>)
  FunctionRef(Fn&& fn) noexcept
      : fn_(const_cast<void*>(static_cast<const void*>(std::addressof(fn)))),
        call_([](void* target, Args... args) -> Result {
          auto& callable = *static_cast<std::remove_reference_t<Fn>*>(target);
          return static_cast<Result>(callable(std::forward<Args>(args)...));
        }) {}

  Result operator()(Args... args) const {
    return call_(fn_, std::forward<Args>(args)...);
  }

 private:
  void* fn_;
  Result (*call_)(void*, Args...);
};

}  // namespace fxjit
