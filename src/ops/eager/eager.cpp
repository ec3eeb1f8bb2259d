// Running a bound call on real tensors.
#include <algorithm>

#include "fxjit/op.h"
#include "src/ops/eager/body_evaluator.h"
#include "src/ops/eager/complex_calls.h"
#include "src/ops/eager/eager_reduce.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/python/values.h"
#include "src/ops/table/layouts.h"
#include "src/ops/table/number_range.h"
#include "src/ops/table/op_call.h"
#include "src/ops/table/written_memory.h"
#include "src/tensor/memory_order.h"
#include "src/tensor/strided.h"

namespace fxjit::ops {
namespace {

bool reads_position(const ScalarBody& body) {
  for (const ScalarInstr& instr : body.instrs)
    if (instr.prim == Prim::index) return true;
  return false;
}

// The loop walks the result's memory.
Value run_in_memory_order(const ScalarBody& body, std::vector<Tensor> inputs,
                          const Tensor& shape) {
  const Dims order = memory_order(shape);
  for (Tensor& input : inputs) {
    const Dims strides =
        broadcast_strides(input.sizes(), input.strides(), shape.sizes());
    input = permuted(input.as_strided(shape.sizes(), strides, input.offset()),
                     order);
  }
  const Tensor result =
      Tensor::empty(permuted(shape, order).sizes(), shape.dtype());
  evaluate_body(body, inputs, std::span<const Tensor>(&result, 1));
  return result.as_strided(shape.sizes(), shape.strides(), 0);
}

// Numbers in place of named sizes, which a result computed now is for.
std::vector<Value> numbers_of(std::span<const Value> args) {
  std::vector<Value> numbers;
  for (const Value& arg : args)
    numbers.push_back(arg.is_named_size() ? Value(arg.as_int()) : arg);
  return numbers;
}

Value run_scalar(const OpCall& call) {
  if (!has_tensor(call)) return python_value_op(call);
  if (std::ranges::any_of(call.args, &Value::is_named_size)) {
    const std::vector<Value> numbers = numbers_of(call.args);
    return run_scalar({call.op, numbers, call.source, call.node});
  }
  const Tensor shape = infer(call).as_tensor();
  const ScalarBody body = scalar_body(call, shape.dtype());
  std::vector<Tensor> inputs;
  for (const Value& arg : call.args)
    if (arg.is_tensor()) inputs.push_back(arg.as_tensor());
  const bool ordered = !writes_input(call) && !shape.is_contiguous();
  if (ordered && !reads_position(body))
    return run_in_memory_order(body, std::move(inputs), shape);
  const Tensor result = empty_like(shape);
  evaluate_body(body, inputs, std::span<const Tensor>(&result, 1));
  return put_in_layout(call, result);
}

// Views of the first argument, as the shape rule describes them.
Value run_view(const OpCall& call) {
  const Tensor& self = call.tensor(0);
  return map_leaves(infer(call), [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& view = leaf.as_tensor();
    return Tensor::view(self.storage(), view.sizes(), view.dtype(),
                        view.strides(), view.offset());
  });
}

Value run_reshape(const OpCall& call) {
  const Tensor shape = infer(call).as_tensor();
  const Tensor& self = call.tensor(0);
  const auto strides =
      view_strides(self.sizes(), self.strides(), shape.sizes());
  if (strides && *strides == shape.strides())
    return self.as_strided(shape.sizes(), *strides, self.offset());
  const Tensor packed = self.contiguous();
  return packed.as_strided(shape.sizes(), contiguous_strides(shape.sizes()),
                           packed.offset());
}

Value run_direct(const OpCall& call) {
  std::vector<Tensor> results;
  const Value made = map_leaves(infer(call), [&](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    return results.emplace_back(empty_like(leaf));
  });
  call.op.row.direct(call, results);
  return put_in_layout(call, made);
}

Value run_by_lowering(const OpCall& call) {
  switch (call.op.row.lowering) {
    case Lowering::scalar:
      return run_scalar(call);
    case Lowering::reduce:
      return run_reduce(call);
    case Lowering::view:
      return run_view(call);
    case Lowering::reshape:
      return run_reshape(call);
    case Lowering::decompose:
    case Lowering::inlined:
      return put_in_layout(call,
                           run_decomposition(call, call.op.row.decompose));
    case Lowering::none:
    case Lowering::contraction:
    case Lowering::attention:
    case Lowering::gather:
    case Lowering::cat:
    case Lowering::convolution:
    case Lowering::pool:
      break;
  }
  throw InternalError(call_prefix(call) + "row without an eager function");
}

Value run(const OpCall& call) {
  if (has_meta(call)) return infer(call);
  if (converts_numbers(call.op)) infer(call);  // Whether they can be.
  if (writes_input(call)) check_written_memory(call);
  if (const DecomposeFn form = complex_form(call))
    return put_in_layout(call, run_decomposition(call, form));
  if (call.op.row.eager) return put_in_layout(call, call.op.row.eager(call));
  if (call.op.row.direct) return run_direct(call);
  const Value result = run_by_lowering(call);
  // A name bound to a plain value is bound anew, as in Python.
  if (!writes_input(call) || !call[0].is_tensor()) return result;
  call.tensor(0).copy_from(result.as_tensor());
  return call[0];
}

}  // namespace

Value run_eager(const OpCall& call) {
  return with_call_context(call, [&] { return run(call); });
}

}  // namespace fxjit::ops
