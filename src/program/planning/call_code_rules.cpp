#include "src/program/planning/call_code_rules.h"

#include "src/ops/table/op_facts.h"
#include "src/ops/table/recurrence.h"
#include "src/passes/lowering/image_way.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/program/rows/short_runs.h"
#include "src/tensor/visit.h"

namespace fxjit::program {
namespace {

bool is_last(const ops::Op& op) {
  return &op == &passes::conv_last_op() || &op == &passes::conv_last_work_op();
}

CallCode sum_code(const ops::OpCall& call, const ValueList& results) {
  const DType type = call.tensor(0).dtype();
  const DType summed = is_floating(type) ? type : DType::i64;
  return call.tensor(0).dim() > 0 && results[0].as_tensor().dtype() == summed
             ? CallCode::cumulative_sum
             : CallCode::eager;
}

CallCode convolution_code(const ops::OpCall& call, const ValueList& results) {
  if (!is_last(call.op) || !results[0].as_tensor().is_contiguous() ||
      (call.has(2) && !call.tensor(2).is_contiguous()))
    return CallCode::convolution;
  return passes::is_image_convolution(ops::conv_params(call), call.tensor(0),
                                      call.tensor(1))
             ? CallCode::image_convolution
             : CallCode::convolution;
}

// The loops read these tensors, and pack them, as rows.
bool lies_in_rows(const ops::OpCall& call) {
  bool rows = true;
  for (size_t argument :
       {ops::kStateWeights, ops::kStateBiases, ops::kHidden, ops::kCellState,
        ops::kProjections, ops::kInputWeights, ops::kInputBiases,
        ops::kStateScales, ops::kStateZeros})
    visit_leaves(call[argument], [&](const Value& leaf) {
      if (leaf.is_tensor()) rows = rows && leaf.as_tensor().is_contiguous();
    });
  if (!call[ops::kInputWeights].as_sequence().empty()) return rows;
  for (const Value& gates : call[ops::kGates].as_sequence()) {
    const Tensor& t = gates.as_tensor();
    rows = rows && (t.size(-1) < 2 || t.stride(-1) == 1);
  }
  return rows;
}

CallCode recurrence_code(const ops::OpCall& call) {
  const ops::Recurrence form = ops::Recurrence::read(call);
  return form.dtype == DType::f32 && form.is_plain() && lies_in_rows(call)
             ? CallCode::recurrence
             : CallCode::eager;
}

CallCode copy_code(const ops::OpCall& call, const ValueList& results) {
  const Tensor &in = call.tensor(0), &out = results[0].as_tensor();
  const bool fits = in.item_size() == sizeof(float) &&
                    in.dtype() == out.dtype() && out.is_contiguous() &&
                    short_runs(in.sizes(), in.strides());
  return fits ? CallCode::copy : CallCode::eager;
}

CallCode product_code(DType dtype) {
  if (dtype == DType::f64) return CallCode::double_product;
  return dtype == DType::f16 || dtype == DType::bf16 ? CallCode::half_product
                                                     : CallCode::eager;
}

CallCode code_by_lowering(const ops::OpCall& call, const ValueList& results) {
  switch (call.op.row.lowering) {
    case ops::Lowering::convolution:
      return convolution_code(call, results);
    case ops::Lowering::contraction:
      return product_code(results[0].as_tensor().dtype());
    default:
      return CallCode::eager;
  }
}

}  // namespace

CallCode call_code_of(const ops::OpCall& call, const ValueList& results) {
  switch (ops::facts_of(call.op).routine) {
    case ops::RoutineKind::none:
      return code_by_lowering(call, results);
    case ops::RoutineKind::running_sums:
      return sum_code(call, results);
    case ops::RoutineKind::copies:
      return copy_code(call, results);
    case ops::RoutineKind::recurrence:
      return recurrence_code(call);
  }
  throw InternalError("kind of routine out of range");
}

}  // namespace fxjit::program
