// Zeros around the planes of a convolution are its own padding, also where
// there are more of them behind than in front, as frameworks with "same"
// padding have it:
//
//   y = conv2d(pad(x, [0, 1, 0, 1]), w, b, stride)
//     ==>    y = padded_conv(x, w, b, stride, [0, 0], [1, 1], ...)
#include <optional>

#include "src/ops/eager/convolution.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/patterns.h"

namespace fxjit::passes {
namespace {

// F.pad's argument, innermost dim first; nothing where the numbers around are
// no zeros.
std::optional<Dims> zeros_around(const fx::Node& node) {
  const ops::Op* const op = node.called_op();
  const bool is_pad = op == &ops::get_op("pad");
  if (!is_pad && op != &ops::get_op("constant_pad_nd")) return std::nullopt;
  if (is_pad && node.arg(2).as_string() != "constant") return std::nullopt;
  const Value& fill = node.arg(is_pad ? 3 : 2);
  const bool zeros =
      fill.is_none() || (fill.is_number() && fill.as_double() == 0);
  if (!zeros || !node.arg(1).is_sequence()) return std::nullopt;
  Dims numbers;
  for (const Value& number : node.arg(1).as_sequence()) {
    if (!number.is_int() || number.as_int() < 0) return std::nullopt;
    numbers.push_back(number.as_int());
  }
  return numbers;
}

bool is_forward_conv(const fx::Node& node) {
  const ops::Op* const op = node.called_op();
  return op && op->row.lowering == ops::Lowering::convolution &&
         node.arg_node(0)->called_op();
}

// Adds the zeros to the padding; false where they are around channels as well.
bool add_padding(ops::ConvParams& params, const Dims& zeros) {
  if (params.transposed || !params.batched || zeros.size() > 2 * params.spatial)
    return false;
  for (int i = 0; i < zeros.size() / 2; ++i) {
    const int dim = params.spatial - 1 - i;
    params.pad_before[dim] += zeros[2 * i];
    params.pad_after[dim] += zeros[2 * i + 1];
  }
  return true;
}

}  // namespace

int fuse_padding(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    if (!is_forward_conv(*node)) return false;
    const fx::NodePtr pad = node->arg_node(0);
    const auto zeros = zeros_around(*pad);
    if (!zeros) return false;
    ops::ConvParams params =
        ops::conv_params({*node->called_op(), vals_of(node->args())});
    if (!add_padding(params, *zeros)) return false;
    auto scope = model.graph->inserting_before(node);
    const fx::NodePtr made = model.graph->call_function(
        padded_conv_op().canonical,
        {pad->arg(0), node->arg(1), node->arg(2), params.stride,
         params.pad_before, params.pad_after, params.dilation, false, Value(),
         params.groups});
    made->copy_meta_from(*node);
    made->set_val(node->val());
    node->replace_all_uses_with(made);
    return true;
  });
}

}  // namespace fxjit::passes
