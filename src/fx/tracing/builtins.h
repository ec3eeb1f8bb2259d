// Python functions that traces record and that are no tensor ops. Where the op
// table has a row of the same name, that row is used.
#pragma once

#include "fxjit/fx/node.h"
#include "fxjit/fx/wrap.h"

namespace fxjit::fx {

// Calls `define` for every function here that the op table does not have.
using DefineFunction =
    std::function<void(const char* name, FunctionBody run, ops::Purity purity)>;
void visit_python_functions(const DefineFunction& define);
// Those of Python's module `math`.
void visit_math_functions(const DefineFunction& define);
// torch.sym_max and its like.
void visit_size_functions(const DefineFunction& define);
// Those of `operator` beyond the tensor ops.
void visit_operator_functions(const DefineFunction& define);

// torch.ops.higher_order.cond and its like.
void visit_control_functions(const DefineFunction& define);

struct PythonTargets {
  // builtins.getattr(value, name): of a tensor shape, dtype, ndim, T, ...
  Target getattr;
  // torch._assert(condition, message): AssertionError unless true.
  Target torch_assert;
  // AssertionError("Assertion failed") unless its argument is true.
  Target assert_fn;
  // Throws AssertionError unless the first argument is None.
  Target assert_is_none;
  // builtins.len(value): elements of a container, rows of a tensor.
  Target len;
  // _operator.setitem(value, index, item).
  Target setitem;
};
const PythonTargets& targets();

// Whether all that the function reads of tensors are their sizes.
bool reads_sizes_only(const Function& function);
// Whether the node is `x[i] = v`, as a function or a method.
bool assigns_item(const Node& node);

// Calls the function behind `target` on values without proxies.
Value run_target(const Target& target, const ValueList& args,
                 const Kwargs& kwargs, SourceLocation source);

}  // namespace fxjit::fx
