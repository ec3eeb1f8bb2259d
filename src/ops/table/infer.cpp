// Shape rules and scalar bodies of calls, for what a row leaves to the table.
#include <algorithm>

#include "fxjit/op.h"
#include "src/ops/eager/complex_calls.h"
#include "src/ops/python/values.h"
#include "src/ops/table/layouts.h"
#include "src/ops/table/number_range.h"
#include "src/ops/table/op_call.h"
#include "src/ops/table/promote.h"
#include "src/ops/table/sized_calls.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

// A body that reads more inputs than its call has finds handles of none.
constexpr size_t kMostInputs = 8;

// Eager dispatch of calls on meta tensors gives meta tensors.
Value decompose_metas(const OpCall& call, DecomposeFn decompose) {
  std::vector<Value> args;
  for (const Value& arg : call.args) args.push_back(metas_of(arg));
  const SizedCalls sized(args);
  return run_decomposition({call.op, args, call.source, call.node}, decompose);
}

Value infer_by_row(const OpCall& call) {
  const OpRow& row = call.op.row;
  if (const DecomposeFn form = complex_form(call))
    return decompose_metas(call, form);
  if (row.lowering == Lowering::scalar && !has_tensor(call))
    return python_value_op(call);
  if (row.infer) return row.infer(call);
  if (row.lowering == Lowering::scalar) return infer_scalar(call);
  if (row.decompose) return decompose_metas(call, row.decompose);
  throw InternalError(call_prefix(call) + "row without a shape rule");
}

}  // namespace

Value infer(const OpCall& call) {
  return with_call_context(call, [&] {
    const Value result = infer_by_row(call);
    check_numbers(call, result);
    return laid_out(call, result);
  });
}

Value infer_plain(const OpCall& call) {
  return with_call_context(call, [&] { return infer_by_row(call); });
}

ScalarBody scalar_body(const OpCall& call) {
  return scalar_body(call, infer(call).as_tensor().dtype());
}

ScalarBody scalar_body(const OpCall& call, DType result) {
  const OpRow& row = call.op.row;
  FXJIT_CHECK(row.scalar, call_prefix(call) + "row without a scalar body");
  const bool keep_types = row.scalar_types == ScalarTypes::custom;
  const DType inputs_type =
      keep_types ? DType::f32 : compute_dtype(scalar_typing(call).inputs);
  ScalarBuilder builder;
  std::vector<Scalar> inputs;
  for (const Value& arg : call.args) {
    if (!arg.is_tensor()) continue;
    Scalar input = builder.input(static_cast<int>(inputs.size()),
                                 compute_dtype(arg.as_tensor().dtype()));
    inputs.push_back(keep_types ? input : builder.cast(input, inputs_type));
  }
  // What follows says so when a body uses it.
  inputs.resize(std::max(kMostInputs, call.args.size()), {&builder, -1});
  const Scalar output = row.scalar(builder, call, inputs);
  return builder.finish({builder.cast(output, compute_dtype(result))});
}

}  // namespace fxjit::ops
