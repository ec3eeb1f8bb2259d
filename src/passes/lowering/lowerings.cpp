#include "src/passes/lowering/lowerings.h"

#include <unordered_map>

#include "src/ops/eager/complex_calls.h"
#include "src/ops/table/recurrence.h"
#include "src/ops/table/sized_calls.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/memory/result_order.h"
#include "src/tensor/memory_order.h"

namespace fxjit::passes {
namespace {

// The first argument with its captured strides, for calls that see them:
// lowered ones may be others.
Value as_captured(GraphBuilder& b, const fx::Node& node, const Value& value) {
  const Tensor& captured = node.arg_node(0)->val_tensor();
  const Value ordered = in_order_of(b, value, captured);
  if (same_places(captured.sizes(), val_of(ordered).strides(),
                  captured.strides()))
    return ordered;
  throw NotImplementedError(
      "cannot be compiled: the call sees strides that its input has in "
      "PyTorch alone",
      node.error_context());
}

// view(x, size) was checked on the captured strides; what the lowered ones do
// not allow is copied. That of another type sees strides.
Value lower_view(GraphBuilder& b, const fx::Node& node, ValueList& args) {
  if (val_of(args[0]).dtype() == node.val_tensor().dtype())
    return call(b, "reshape", {args[0], node.val_tensor().sizes()});
  args[0] = as_captured(b, node, args[0]);
  return {};
}

Value lower_view_as_complex(GraphBuilder& b, const fx::Node&, ValueList& args) {
  if (!ops::holds_pairs(val_of(args[0])))
    args[0] = b.call(materialize_op(), {args[0]});
  return {};
}

// The loops of recurrent layers read weights and states row by row; states that
// are all zeros may be one zero that is broadcast.
Value lower_recurrence(GraphBuilder& b, const ops::Op& op,
                       const ValueList& args) {
  ValueList in_rows = args;
  bool copied = false;
  for (const size_t argument :
       {ops::kStateWeights, ops::kStateBiases, ops::kHidden, ops::kCellState,
        ops::kStateScales, ops::kStateZeros})
    in_rows[argument] = map_leaves(args[argument], [&](const Value& leaf) {
      if (!leaf.is_proxy() || val_of(leaf).is_contiguous()) return leaf;
      copied = true;
      return b.call(materialize_op(), {leaf});
    });
  return copied ? b.call(op, in_rows) : Value();
}

// The node whose memory a captured value is, by views alone.
const fx::Node& captured_base(const fx::Node& value) {
  const fx::Node* base = &value;
  while (const ops::Op* const op = base->called_op()) {
    if (op->row.lowering != ops::Lowering::view || !base->arg_node(0)) break;
    base = base->arg_node(0);
  }
  return *base;
}

// as_strided names places in memory: these must be the captured ones, and
// known. A caller's tensor may start anywhere in its memory.
Value lower_as_strided(GraphBuilder& b, const fx::Node& node, ValueList& args) {
  const fx::Node& input = *node.arg_node(0);
  args[0] = as_captured(b, node, args[0]);
  const fx::Node* root = GraphBuilder::node_of(args[0]);
  if (root->called_op() == &as_strided_op()) root = root->arg_node(0);
  const Tensor &view = node.val_tensor(), &memory = root->val_tensor();
  const Tensor& base = captured_base(input).val_tensor();
  const bool is_whole =
      memory.sizes() == base.sizes() && memory.strides() == base.strides();
  // A copy of the input begins with it.
  const bool is_input = memory.numel() == input.val_tensor().numel() &&
                        input.val_tensor().offset() == 0;
  const bool outside =
      view.numel() > 0 && end_of(view) > end_of(root->val_tensor());
  if (outside || !(is_whole || is_input) ||
      (root->is(fx::Opcode::placeholder) && !node.arg(3).is_none()))
    throw NotImplementedError(
        "cannot be compiled: the view may reach outside its input",
        node.error_context());
  return {};
}

// Lowered graphs order their results at the end.
Value lower_layout(GraphBuilder&, const fx::Node&, ValueList& args) {
  return args[0];
}

struct LoweringRow {
  const char* op;
  LowerFn* lower;
  LowerNodeFn* lower_node = nullptr;
};

constexpr LoweringRow kLowerings[] = {
    {"linear", lower_contraction},
    {"matmul", lower_contraction},
    {"mm", lower_contraction},
    {"bmm", lower_contraction},
    {"mv", lower_contraction},
    {"dot", lower_contraction},
    {"addmm", lower_contraction},
    {"baddbmm", lower_contraction},
    {"fxjit.merged_linear", lower_contraction},
    {"fxjit.integer_matmul", lower_integer_matmul},
    {"fxjit.integer_conv", lower_integer_conv},
    {"fxjit.weight_product", lower_weight_product},
    {"fxjit.blocked_product", lower_blocked_product},
    {"scaled_dot_product_attention", lower_attention},
    {"fxjit.written_attention", lower_written_attention},
    {"conv1d", lower_convolution},
    {"conv2d", lower_convolution},
    {"conv3d", lower_convolution},
    {"conv_transpose1d", lower_convolution},
    {"conv_transpose2d", lower_convolution},
    {"conv_transpose3d", lower_convolution},
    {"convolution", lower_convolution},
    {"fxjit.padded_conv", lower_convolution},
    {"max_pool1d", lower_pool},
    {"max_pool2d", lower_pool},
    {"max_pool3d", lower_pool},
    {"max_pool1d_with_indices", lower_pool},
    {"max_pool2d_with_indices", lower_pool},
    {"max_pool3d_with_indices", lower_pool},
    {"avg_pool1d", lower_pool},
    {"avg_pool2d", lower_pool},
    {"avg_pool3d", lower_pool},
    {"group_norm", lower_group_norm},
    {"instance_norm", lower_instance_norm},
    {"fxjit.resample_dims", lower_resample},
    {"fxjit.resize", lower_resize},
    {"index_select", lower_index_select},
    {"index", lower_index},
    {"gather", lower_gather},
    {"flip", lower_flip},
    {"fxjit.recurrence", lower_recurrence},
    {"view", nullptr, lower_view},
    {"view_as", nullptr, lower_view},
    {"view_as_complex", nullptr, lower_view_as_complex},
    {"as_strided", nullptr, lower_as_strided},
    {"fxjit.layout", nullptr, lower_layout},
};

const LoweringRow* row_of(const ops::Op& op) {
  static const auto* const rows = [] {
    layout_op();  // Registers the rows of the compiler's own ops.
    auto* made = new std::unordered_map<const ops::Op*, const LoweringRow*>;
    for (const LoweringRow& row : kLowerings)
      made->emplace(&ops::get_op(row.op), &row);
    return made;
  }();
  const auto found = rows->find(&op);
  return found == rows->end() ? nullptr : found->second;
}

}  // namespace

Value lower_call(GraphBuilder& b, const ops::Op& op, const ValueList& args,
                 bool in_memory_order) {
  Value lowered;
  if (!in_memory_order) lowered = lower_channels_last(b, op, args);
  if (!lowered.is_none()) return lowered;
  if (const LoweringRow* const row = row_of(op); row && row->lower)
    lowered = row->lower(b, op, args);
  if (!lowered.is_none() || !op.row.decompose) return lowered;
  const ops::SizedCalls sized(args);
  return op.row.decompose({op, args});
}

Value lower_node(GraphBuilder& b, const fx::Node& node, ValueList& args) {
  const LoweringRow* const row = row_of(*node.called_op());
  return row && row->lower_node ? row->lower_node(b, node, args) : Value();
}

}  // namespace fxjit::passes
