// A module made of a function, for what needs no class of its own:
//
//   auto up = nn::Linear::create(4, 8), down = nn::Linear::create(8, 4);
//   auto mlp = nn::lambda(
//       "Mlp", {"x"}, [=](Value x) { return down(relu(up(x))); },
//       {{"up", up}, {"down", down}});
//
// The function takes a Value per declared name. With an `nn::Module&` in front
// of them it is given the module itself, to read members by name. Modules that
// it calls are members, or calls of them cannot be traced.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/nn/call_values.h"
#include "fxjit/nn/custom.h"
#include "fxjit/nn/module.h"

namespace fxjit::nn {

namespace detail {

// `Value f(nn::Module& self, Value x, ...)` as a function of the others.
template <typename F>
struct SelfBound;
template <typename R, typename... Args>
struct SelfBound<Callable<R, Module&, Args...>> {
  template <typename F>
  static auto bind(F& function, Module& self) {
    return [&](Args... args) -> R {
      return function(self, std::forward<Args>(args)...);
    };
  }
};
template <typename R, typename... Args>
Callable<R, Args...> callable_of(const Callable<R, Args...>*);
template <typename F>
using CallableBase =
    decltype(callable_of(static_cast<CallableOf<std::decay_t<F>>*>(nullptr)));
template <typename F>
concept TakesSelf = requires { &SelfBound<CallableBase<F>>::template bind<F>; };

void add_members(Module& module, const AttributeMap& members);

}  // namespace detail

// What `lambda` makes. A copy has a copy of the function, whose module handles
// are those of the copied members.
template <ValueCallable F>
class Lambda : public DeclaredModule {
 public:
  Lambda(std::string type_name, Signature signature, F forward,
         const AttributeMap& members)
      : DeclaredModule(std::move(type_name), std::move(signature)),
        forward_(std::move(forward)) {
    detail::add_members(*this, members);
  }

  std::shared_ptr<Module> clone() const override {
    if constexpr (std::is_copy_constructible_v<F>)
      return std::make_shared<Lambda>(*this);
    return DeclaredModule::clone();
  }
  Value invoke(const ValueList& args, const Kwargs& kwargs) override {
    return invoke_bound(
        signature().bind(args, kwargs, type_name() + ".forward"));
  }
  Value invoke_bound(std::vector<Value> bound) override {
    if constexpr (detail::TakesSelf<F>) {
      auto of_values =
          detail::SelfBound<detail::CallableBase<F>>::bind(forward_, *this);
      return call_values(of_values, bound);
    } else {
      return call_values(forward_, bound);
    }
  }

 private:
  F forward_;
};

// A module of class `type_name` whose forward is the function. Members are
// registered under their names, in order: modules, Parameters, Buffers, values.
template <ValueCallable F>
ModuleRef lambda(std::string type_name, Signature signature, F forward,
                 const AttributeMap& members = {}) {
  return std::shared_ptr<Module>(std::make_shared<Lambda<F>>(
      std::move(type_name), std::move(signature), std::move(forward), members));
}
template <UnknownCallable F>
ModuleRef lambda(std::string, Signature, F, const AttributeMap& = {}) {
  static_assert(detail::kNever<F>, FXJIT_UNKNOWN_CALLABLE);
  return {};
}
// Refused: the names of the arguments are missing.
template <typename F>
  requires ValueCallable<F> || UnknownCallable<F>
ModuleRef lambda(std::string, F, const AttributeMap& = {}) {
  static_assert(detail::kNever<F>,
                "nn::lambda: the names of the function's arguments are "
                "missing: lambda(\"M\", {\"x\"}, f)");
  return {};
}

}  // namespace fxjit::nn
