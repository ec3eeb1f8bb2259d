// Functions of the user as leaves of traces, torch.fx's wrap and autowrap.
//
//   const fx::Wrapped my_len = fx::wrap("my_len", [](Value x) -> Value {...});
//   Value y = my_len(x);
//
// A call of a wrapped function with a proxy among its arguments (nested ones
// too) is recorded as one call_function; any other call runs. Names are
// process-wide; all functions here are thread-safe.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/fx/target.h"
#include "fxjit/nn/call_arg.h"
#include "fxjit/nn/call_values.h"

namespace fxjit::fx {

// A handle by which a function is called: a leaf, or one only where the tracer
// or `wrap` says so.
class Wrapped {
 public:
  explicit Wrapped(const Function& function, bool leaf = true)
      : function_(&function), leaf_(leaf) {}

  const Function& function() const { return *function_; }
  Value call(ValueList args, Kwargs kwargs = {},
             SourceLocation source = {}) const;
  Value operator()(nn::CallArg a, nn::CallArg b = {}, nn::CallArg c = {},
                   nn::CallArg d = {}, nn::CallArg e = {},
                   nn::CallArg f = {}) const;

 private:
  const Function* function_;  // Never destroyed.
  bool leaf_;
};

using FunctionBody = std::function<Value(const ValueList&, const Kwargs&)>;

// A leaf of all traces. `run` takes positional and keyword arguments as they
// come. Code that `to_folder` writes imports "my_module.my_op" from my_module;
// a name without a module is left to who imports the written package: the code
// finds it as Python finds any global.
Wrapped wrap(std::string name, FunctionBody run,
             ops::Purity purity = ops::Purity::pure);
// Makes a function that exists a leaf of all traces: by its handle, or by its
// name, where "len" stands for "builtins.len" (then fx::len of a proxy is
// recorded). KeyError when there is no such function.
Wrapped wrap(const Wrapped& function);
Wrapped wrap(std::string_view name);

// A function that traces run through, unless the tracer is told to record it:
// TracerOptions::autowrap_functions lists such functions, autowrap_modules the
// parts of their names before the last dot ("math" of "math.sqrt").
Wrapped global_function(std::string name, FunctionBody run,
                        ops::Purity purity = ops::Purity::pure);

// Records the call by the tracer of the first proxy, whatever the wrapping
// says, or runs it when there is none. RuntimeError for proxies of two tracers.
Value record_or_run(const Function& function, ValueList args, Kwargs kwargs,
                    SourceLocation source);

// Calls what a call_function means by `name` (see find_callable): recorded when
// an argument holds a proxy, run otherwise. NameError when there is none.
Value call_by_name(std::string_view name, ValueList args, Kwargs kwargs = {},
                   std::source_location at = std::source_location::current());

// Whether `name` is one of Python's that only computes, or checks, what it is
// given: of `math` and `operator`, len, the assertions that traces record.
bool is_python_function(std::string_view name);

namespace detail {

// Functions of Values take positional arguments only.
template <typename F>
FunctionBody positional(std::string name, F function) {
  return [function = std::move(function), name = std::move(name)](
             const ValueList& args, const Kwargs& kwargs) mutable {
    if (!kwargs.empty())
      throw TypeError(name + "() got an unexpected keyword argument '" +
                      kwargs[0].first + "'");
    std::vector<Value> values = args;
    return nn::call_values(function, values);
  };
}

template <typename F>
concept PositionalFunction =
    nn::ValueCallable<F> &&
    !std::invocable<F&, const ValueList&, const Kwargs&>;

}  // namespace detail

template <detail::PositionalFunction F>
Wrapped wrap(std::string name, F function,
             ops::Purity purity = ops::Purity::pure) {
  FunctionBody run = detail::positional(name, std::move(function));
  return wrap(std::move(name), std::move(run), purity);
}
template <detail::PositionalFunction F>
Wrapped global_function(std::string name, F function,
                        ops::Purity purity = ops::Purity::pure) {
  FunctionBody run = detail::positional(name, std::move(function));
  return global_function(std::move(name), std::move(run), purity);
}

// Refused, in words.
template <nn::UnknownCallable F>
  requires(!std::invocable<F&, const ValueList&, const Kwargs&>)
Wrapped wrap(std::string name, F, ops::Purity = ops::Purity::pure) {
  static_assert(nn::detail::kNever<F>, FXJIT_UNKNOWN_CALLABLE);
  return wrap(std::string_view(name));
}
template <nn::UnknownCallable F>
  requires(!std::invocable<F&, const ValueList&, const Kwargs&>)
Wrapped global_function(std::string name, F, ops::Purity = ops::Purity::pure) {
  static_assert(nn::detail::kNever<F>, FXJIT_UNKNOWN_CALLABLE);
  return wrap(std::string_view(name));
}

}  // namespace fxjit::fx
