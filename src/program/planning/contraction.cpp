// Contraction and attention regions to steps.
#include "src/passes/fusing/grouping.h"
#include "src/passes/lowering/lower.h"
#include "src/program/cost/call_work.h"
#include "src/program/planning/builder.h"
#include "src/program/tiles/operands.h"
#include "src/support/machine/vector_lanes.h"
#include "src/weights/panels.h"
#include "src/weights/quads.h"

namespace fxjit::program {
namespace {

using passes::uniform_stride;

int64_t product(const Dims& sizes, int first, int last) {
  int64_t result = 1;
  for (int d = first; d < last; ++d) result *= sizes[d];
  return result;
}

bool all_constant(const RegionCall& call, const ValueList& weights) {
  for (const Value& weight : weights)
    if (!call.inputs.at(weight.as_node()).constant.defined()) return false;
  return true;
}

// The matrices of a constant [batch..., K, N].
std::vector<PlanBuilder::Piece> matrices_of(const Placed& placed) {
  const Tensor& weight = placed.constant;
  const int rank = weight.dim();
  const int64_t step =
      uniform_stride(weight.sizes(), weight.strides(), 0, rank - 2);
  std::vector<PlanBuilder::Piece> matrices;
  for (int64_t i = 0; i < product(weight.sizes(), 0, rank - 2); ++i)
    matrices.push_back(
        {placed, weight.as_strided({weight.size(-2), weight.size(-1)},
                                   {weight.stride(-2), weight.stride(-1)},
                                   weight.offset() + i * step)});
  return matrices;
}

RunTimePack run_time_pack(const Tensor& val) {
  const int rank = val.dim();
  RunTimePack matrix;
  matrix.batch = product(val.sizes(), 0, rank - 2);
  matrix.batch_stride = uniform_stride(val.sizes(), val.strides(), 0, rank - 2);
  matrix.depth = val.size(-2);
  matrix.columns = val.size(-1);
  matrix.depth_stride = val.stride(-2);
  matrix.column_stride = val.stride(-1);
  FXJIT_CHECK(matrix.batch_stride >= 0, "batch dims step uniformly");
  return matrix;
}

// Whether tiles pack the panels of a matrix as they need them.
bool packs_itself(const PlanBuilder& builder, const RunTimePack& matrix) {
  return builder.level() != CpuLevel::avx512 && matrix.column_stride == 1 &&
         matrix.depth_stride > 0;
}

// Packs an activation at run time into a buffer of the arena.
OperandRef pack_at_run_time(PlanBuilder& builder, const RegionCall& call,
                            const Placed& weight) {
  const RunTimePack matrix = run_time_pack(weight.val);
  const int64_t elements =
      weights::packed_elements(matrix.depth, matrix.columns,
                               weights::register_tile(builder.level()).width());
  const Placed packed =
      builder.allocate(Tensor::meta({matrix.batch, elements}, DType::f32));
  const double bytes = tensor_bytes(weight.val) + tensor_bytes(packed.val);
  builder.add_step(ExternStep{matrix, 0, bytes}, {weight.ref(), packed.ref()},
                   call);
  return packed.ref();
}

// Dims [first, last) of an operand, neighbours that step evenly as one.
std::vector<IntegerAxis> axes_of(const Tensor& val, int first, int last) {
  std::vector<IntegerAxis> axes;
  for (int d = last - 1; d >= first; --d) {
    const int64_t size = val.size(d), stride = val.stride(d);
    if (size == 1) continue;
    if (!axes.empty() && stride == axes.front().size * axes.front().stride)
      axes.front().size *= size;
    else
      axes.insert(axes.begin(), {size, stride});
  }
  if (axes.empty()) axes.push_back({1, 1});
  return axes;
}

// What a matrix of i16 needs packed, none known ahead.
OperandRef pack_pairs_at_run_time(PlanBuilder& builder, const RegionCall& call,
                                  const Placed& weight) {
  RunTimePack matrix = run_time_pack(weight.val);
  matrix.dtype = DType::i16;
  const weights::QuadLayout layout(2 * matrix.depth, matrix.columns);
  const Placed packed =
      builder.allocate(Tensor::meta({matrix.batch, layout.bytes}, DType::u8));
  const double bytes = tensor_bytes(weight.val) + tensor_bytes(packed.val);
  builder.add_step(ExternStep{matrix, 0, bytes}, {weight.ref(), packed.ref()},
                   call);
  return packed.ref();
}

void plan_integers(PlanBuilder& builder, const RegionCall& call,
                   const fx::Node& node) {
  const Placed& lhs = call.inputs.at(node.arg_node(0));
  const Placed& rhs = call.inputs.at(node.arg(1).as_sequence()[0].as_node());
  const Dims& domain = node.val_tensor().sizes();
  const int last = domain.size() - 1;
  const int batch = passes::contraction_batch_dims(node);
  IntegerStep step;
  step.batch = product(domain, 0, batch);
  step.rows = product(domain, batch, last);
  step.columns = domain[last];
  step.depth = rhs.val.size(-2);
  step.lhs_batch = uniform_stride(lhs.val.sizes(), lhs.val.strides(), 0, batch);
  step.rhs_batched = batch > 0;
  step.row_axes = axes_of(lhs.val, batch, last);
  step.depth_axes = axes_of(lhs.val, last, lhs.val.dim());
  if (step.depth_axes.back().stride != 1) step.depth_axes.push_back({1, 1});
  step.lhs = lhs.val.dtype();
  step.rhs = rhs.val.dtype();
  step.has_dots = builder.options().machine.dot_products;
  const int lanes = support::vector_lanes(builder.level());
  std::vector<OperandRef> refs{
      lhs.ref(), step.lhs == DType::i16
                     ? pack_pairs_at_run_time(builder, call, rhs)
                     : builder.pack_integers(rhs, step.has_single_rows(lanes))};
  bind_epilogue(call, node, refs, step);
  builder.add_step(std::move(step), std::move(refs), call);
}

// Codes of a few bits, their scales and zero points.
OperandRef pack_blocks(PlanBuilder& builder, const RegionCall& call,
                       const fx::Node& node) {
  const ValueList& given = node.arg(1).as_sequence();
  std::vector<PlanBuilder::Piece> pieces;
  for (size_t i = 0; i < 3; ++i) {
    if (given[i].is_none()) continue;
    const Placed& placed = call.inputs.at(given[i].as_node());
    pieces.push_back({placed, placed.constant});
  }
  const weights::StoredCodes codes{given[3].as_int(),
                                   static_cast<int>(given[4].as_int()),
                                   given[5].as_bool()};
  return builder.pack_blocks(pieces, codes,
                             call.inputs.at(node.arg_node(0)).val.size(-1));
}

}  // namespace

void plan_contraction(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node& node = find_call(call, passes::contract_op());
  if (is_integral(node.val_tensor().dtype()))
    return plan_integers(builder, call, node);
  const Placed& lhs = call.inputs.at(node.arg_node(0));
  const ValueList& weights = node.arg(1).as_sequence();
  const Dims& domain = node.val_tensor().sizes();
  const int last = domain.size() - 1;
  const int batch = passes::contraction_batch_dims(node);
  TileStep step;
  step.batch = product(domain, 0, batch);
  step.rows = product(domain, batch, last);
  step.columns = domain[last];
  step.depth = lhs.val.size(-1);
  step.lhs_batch = uniform_stride(lhs.val.sizes(), lhs.val.strides(), 0, batch);
  step.lhs_row =
      uniform_stride(lhs.val.sizes(), lhs.val.strides(), batch, last);
  step.rhs_batched = batch > 0;
  step.strict = builder.options().strict_sums;
  std::vector<OperandRef> refs{lhs.ref()};
  const Placed& first = call.inputs.at(weights[0].as_node());
  if (passes::is_blocked(node)) {
    refs.push_back(pack_blocks(builder, call, node));
  } else if (first.val.dtype() == DType::i8) {
    refs.push_back(builder.pack_bytes(first));
  } else if (all_constant(call, weights) && batch == 0) {
    std::vector<PlanBuilder::Piece> pieces;
    for (const Value& weight : weights) {
      const Placed& placed = call.inputs.at(weight.as_node());
      pieces.push_back({placed, placed.constant});
    }
    refs.push_back(builder.options().library_products
                       ? builder.pack(pieces)
                       : builder.pack_narrow(pieces, step.rows));
  } else if (all_constant(call, weights)) {
    const Placed& weight = call.inputs.at(weights[0].as_node());
    refs.push_back(builder.pack(matrices_of(weight), true));
  } else {
    FXJIT_CHECK(weights.size() == 1, "only constants are merged");
    const RunTimePack matrix = run_time_pack(first.val);
    if (packs_itself(builder, matrix)) {
      step.rhs_row = matrix.depth_stride;
      step.rhs_batch = matrix.batch_stride;
      refs.push_back(first.ref());
    } else {
      refs.push_back(pack_at_run_time(builder, call, first));
    }
  }
  bind_epilogue(call, node, refs, step);
  if (builder.options().library_products &&
      builder.level() == CpuLevel::avx512 && !is_integral(first.val.dtype())) {
    step.analyse(builder.options().machine);
    const StepPlan plan = step.plan(builder.level());
    const auto results = static_cast<int32_t>(step.outputs.size());
    return builder.add_step(ExternStep{LibraryProduct{std::move(step)},
                                       plan.flops, plan.bytes, results},
                            std::move(refs), call);
  }
  builder.add_step(std::move(step), std::move(refs), call);
}

namespace {

HeadAccess head_access(const Tensor& val) {
  const Dims& strides = val.strides();
  return {strides[1], strides[2], strides[3], strides[0]};
}

// Expanded masks have stride 0 along the dims they lack.
void plan_masks(const fx::Node& node, const RegionCall& call,
                AttentionStep& step, std::vector<OperandRef>& refs) {
  const ValueList& masks = node.arg(3).as_sequence();
  for (size_t i = 0; i < masks.size(); ++i) {
    const Placed& mask = call.inputs.at(masks[i].as_node());
    const auto kind =
        static_cast<passes::MaskKind>(node.arg(4).as_sequence()[i].as_int());
    const double value = node.arg(5).as_sequence()[i].as_double();
    step.masks.push_back({kind, head_access(mask.val), mask.val.strides()[4],
                          static_cast<float>(value)});
    refs.push_back(mask.ref());
  }
}

}  // namespace

void plan_attention(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node& node = find_call(call, passes::attention_op());
  const Placed& q = call.inputs.at(node.arg_node(0));
  const Placed& k = call.inputs.at(node.arg_node(1));
  const Placed& v = call.inputs.at(node.arg_node(2));
  const Placed& out = call.results.front();
  AttentionStep step;
  step.outer = q.val.size(0);
  step.batch = q.val.size(1);
  step.heads = q.val.size(2);
  step.queries = q.val.size(3);
  step.keys = k.val.size(3);
  step.depth = q.val.size(4);
  step.value_depth = v.val.size(4);
  step.q = head_access(q.val);
  step.k = head_access(k.val);
  step.v = head_access(v.val);
  step.out = head_access(out.val);
  step.causal = node.arg(6).as_bool();
  step.scale = static_cast<float>(node.arg(7).as_double());
  step.zero_rows = node.arg(8).as_bool();
  std::vector<OperandRef> refs{q.ref(), k.ref(), v.ref()};
  plan_masks(node, call, step, refs);
  refs.push_back(out.ref());
  builder.add_step(std::move(step), std::move(refs), call);
}

}  // namespace fxjit::program
