// Control flow that stays in the graph: functions of torch's names and meaning
// that call one of two branches, or a body again and again, by data that only a
// call knows.
//
//   Value y = fxjit::cond(method(x, "sum") > 0,
//                         [](Value x) { return x + 1; },
//                         [](Value x) { return x * 2; }, {x});
//
// While a trace runs, or with a proxy among the arguments, they are recorded as
// torch records them: each branch or body is traced into a GraphModule of its
// own, a member of the module being traced ("true_graph_0"), and one node calls
// torch.ops.higher_order.cond with these members and the operands. What a body
// uses from outside (proxies, parameters, tensors) is passed as operands behind
// the others; modules that it calls become members of its GraphModule. Without
// proxies the functions run at once.
//
// Bodies must not write their operands, and their results do not share memory
// with operands: what a body returns as it came is copied.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fxjit/nn/call_values.h"
#include "fxjit/nn/module.h"
#include "fxjit/value.h"

namespace fxjit::fx {

// A branch, or the body of a loop: a function of Values, or a module.
class Body {
 public:
  template <nn::ValueCallable F>
    requires(!std::same_as<std::remove_cvref_t<F>, Body>)
  Body(F function)  // NOLINT: converts by intent
      : run_([function = std::move(function)](ValueList args) mutable {
          return nn::call_values(function, args);
        }) {}
  template <typename T>
  Body(const nn::Ref<T>& module)  // NOLINT: converts by intent
      : run_([module](ValueList args) { return module->call(args); }) {}
  template <nn::UnknownCallable F>
    requires(!std::same_as<std::remove_cvref_t<F>, Body>)
  Body(F) {  // NOLINT: refused, in words
    static_assert(nn::detail::kNever<F>, FXJIT_UNKNOWN_CALLABLE);
  }

  Value operator()(ValueList args) const { return run_(std::move(args)); }

 private:
  std::function<Value(ValueList)> run_;
};

// A module as a value: what a get_attr node that names a module gives, and what
// the nodes of control flow take. Nodes name it by its path below the module
// being traced; NameError when it is not there.
Value module_value(nn::ModuleRef module);
// The module of such a value; null for any other.
nn::ModuleRef module_of(const Value& value);

}  // namespace fxjit::fx

namespace fxjit {

// `true_fn(*operands)` where `pred` holds, else `false_fn(*operands)`. `pred`
// is a tensor of one element or a proxy of one; a number chooses at once, also
// while tracing. Both give results of one structure with the same dtypes and
// ranks. RuntimeError, with torch's texts, for other arguments and results.
Value cond(const Value& pred, const fx::Body& true_fn, const fx::Body& false_fn,
           const ValueList& operands = {},
           std::source_location at = std::source_location::current());

// carried = body_fn(*carried) while cond_fn(*carried) holds; gives what is
// carried in the end, a tuple. `cond_fn` gives a boolean tensor without dims or
// a bool, `body_fn` tensors with the sizes and dtypes of `carried`.
Value while_loop(const fx::Body& cond_fn, const fx::Body& body_fn,
                 const ValueList& carried,
                 std::source_location at = std::source_location::current());

struct ScanOptions {
  int64_t dim = 0;
  bool reverse = false;
};

// carry, y = combine_fn(carry, slice of xs) for each slice of `xs` along `dim`,
// beginning with `init`; gives (last carry, the ys stacked along `dim`).
// `init`, `xs` and the ys are tensors or trees of them.
Value scan(const fx::Body& combine_fn, const Value& init, const Value& xs,
           const ScanOptions& options = {},
           std::source_location at = std::source_location::current());

// The slices of `xs` along `dim`, each combined with all before it by an
// associative `combine_fn` of two slices.
Value associative_scan(
    const fx::Body& combine_fn, const Value& xs, int64_t dim,
    bool reverse = false,
    std::source_location at = std::source_location::current());

// f(slice of xs along the first dim, *args) for each slice, stacked.
Value map(const fx::Body& f, const Value& xs, const ValueList& args = {},
          std::source_location at = std::source_location::current());

}  // namespace fxjit
