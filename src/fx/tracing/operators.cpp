#include <algorithm>

#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "src/fx/tracing/builtins.h"
#include "src/ops/python/methods.h"
#include "src/ops/python/operators.h"

namespace fxjit::fx {
namespace {

using ops::PythonOperator;

// A tensor keeps its memory, as in Python's augmented assignment.
Value keep_place(const Value& old, Value result) {
  if (!old.is_tensor() || !result.is_tensor()) return result;
  old.as_tensor().copy_from(result.as_tensor());
  return old;
}

// What the operators that are no rows of the op table do with tensors.
struct OnTensors {
  std::string_view name;
  Value (*run)(const ValueList& args);
};
constexpr OnTensors kOnTensors[] = {
    {"ilshift",
     [](const ValueList& args) {
       return keep_place(args[0], args[0] << args[1]);
     }},
    {"irshift",
     [](const ValueList& args) {
       return keep_place(args[0], args[0] >> args[1]);
     }},
    // Tensors have no product in place: the name is bound to a new one.
    {"imatmul",
     [](const ValueList& args) { return operators::matmul(args[0], args[1]); }},
    {"setitem",
     [](const ValueList& args) {
       return ops::call_method("__setitem__", args);
     }},
    {"contains",
     [](const ValueList& args) {
       return ops::call_method("__contains__", args);
     }},
};

Value run(const PythonOperator& function, const OnTensors* on_tensors,
          const ValueList& args, const Kwargs& kwargs) {
  if (on_tensors && kwargs.empty() && args.size() == function.count &&
      !ops::takes_plain(function, args))
    return on_tensors->run(args);
  return ops::call_python_operator(function, args, kwargs);
}

}  // namespace

void visit_operator_functions(const DefineFunction& define) {
  for (const PythonOperator& function : ops::python_operators()) {
    const std::string name = "_operator." + std::string(function.name);
    if (ops::find_function(name)) continue;
    const auto* const own =
        std::ranges::find(kOnTensors, function.name, &OnTensors::name);
    const OnTensors* const on_tensors =
        own == std::end(kOnTensors) ? nullptr : own;
    define(
        name.c_str(),
        [&function, on_tensors](const ValueList& args, const Kwargs& kwargs) {
          return run(function, on_tensors, args, kwargs);
        },
        function.writes ? ops::Purity::mutates : ops::Purity::pure);
  }
}

bool assigns_item(const Node& node) {
  if (node.is(Opcode::call_method))
    return ops::assigns_item(node.target_name());
  return node.target() == targets().setitem;
}

}  // namespace fxjit::fx
