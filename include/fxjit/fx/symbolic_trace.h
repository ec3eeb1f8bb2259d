// symbolic_trace: from a module or a function to a GraphModule in one call.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/tracer.h"
#include "fxjit/nn/call_values.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

namespace detail {
[[noreturn]] void throw_nothing_to_trace();
}  // namespace detail

// Traces `root`; the result shares its parameters and leaf modules. Arguments
// in `concrete_args` are fixed to the values given. AssertionError for a null
// handle, and for an empty function.
nn::Ref<GraphModule> symbolic_trace(nn::Module& root,
                                    const ConcreteArgs& concrete_args = {});
template <typename T>
nn::Ref<GraphModule> symbolic_trace(const nn::Ref<T>& root,
                                    const ConcreteArgs& concrete_args = {}) {
  if (!root) detail::throw_nothing_to_trace();
  return symbolic_trace(static_cast<nn::Module&>(*root), concrete_args);
}
nn::Ref<GraphModule> symbolic_trace(const TracedFunction& function,
                                    const ConcreteArgs& concrete_args = {});

// A function of Values, `Value f(Value x, Value y)`, with its argument names:
//
//   auto gm = fx::symbolic_trace(f, {"x", "y"}, "f");
template <typename F>
  requires nn::ValueCallable<F>
nn::Ref<GraphModule> symbolic_trace(F function, nn::Signature signature,
                                    std::string name = "function",
                                    const ConcreteArgs& concrete_args = {}) {
  if constexpr (std::is_pointer_v<F>)
    if (!function) detail::throw_nothing_to_trace();
  return symbolic_trace(
      TracedFunction{
          std::move(name), std::move(signature),
          [function = std::move(function)](std::vector<Value> bound) mutable {
            return nn::call_values(function, bound);
          }},
      concrete_args);
}

// Refused, in words: functions of unknown parameters, and without names.
template <nn::UnknownCallable F>
nn::Ref<GraphModule> symbolic_trace(F, nn::Signature = {}, std::string = {},
                                    const ConcreteArgs& = {}) {
  static_assert(nn::detail::kNever<F>, FXJIT_UNKNOWN_CALLABLE);
  return {};
}
template <nn::ValueCallable F>
nn::Ref<GraphModule> symbolic_trace(F) {
  static_assert(nn::detail::kNever<F>,
                "fx::symbolic_trace: the names of the function's arguments "
                "are missing: symbolic_trace(f, {\"x\"})");
  return {};
}

}  // namespace fxjit::fx
