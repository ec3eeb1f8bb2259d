// wrap: makes a function of the user a leaf of traces. A call with a proxy
// among its arguments is recorded as one call_function; any other call runs.
//
//   const fx::Wrapped my_len = fx::wrap("my_len", [](Value x) -> Value {...});
//   Value y = my_len(x);
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/target.h"
#include "fxjit/nn/call_arg.h"
#include "fxjit/nn/call_values.h"

namespace fxjit::fx {

class Wrapped {
 public:
  explicit Wrapped(const Function& function) : function_(&function) {}

  const Function& function() const { return *function_; }
  Value call(ValueList args, Kwargs kwargs = {},
             SourceLocation source = {}) const;
  Value operator()(nn::CallArg a, nn::CallArg b = {}, nn::CallArg c = {},
                   nn::CallArg d = {}, nn::CallArg e = {},
                   nn::CallArg f = {}) const;

 private:
  const Function* function_;  // Never destroyed.
};

// `run` takes positional and keyword arguments as they come.
Wrapped wrap(std::string name,
             std::function<Value(const ValueList&, const Kwargs&)> run,
             ops::Purity purity = ops::Purity::pure);
// A function of Values, called with positional arguments only.
template <typename F>
  requires nn::ValueCallable<F> &&
           (!std::invocable<F&, const ValueList&, const Kwargs&>)
Wrapped
    wrap(std::string name, F function, ops::Purity purity = ops::Purity::pure) {
  std::string text = name;
  return wrap(
      std::move(name),
      [function = std::move(function), text = std::move(text)](
          const ValueList& args, const Kwargs& kwargs) mutable {
        if (!kwargs.empty())
          throw TypeError(text + "() got an unexpected keyword argument '" +
                          kwargs[0].first + "'");
        std::vector<Value> values = args;
        return nn::call_values(function, values);
      },
      purity);
}

}  // namespace fxjit::fx
