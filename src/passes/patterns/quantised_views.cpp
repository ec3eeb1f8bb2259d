// Views of dequantised tensors are views of their integers, and integers that
// are dequantised and quantised again by the same numbers stay what they are:
//
//   view(dequantize(x, s, z))            ==>   dequantize(view(x), s, z)
//   quantize(dequantize(x, s, z), s, z)  ==>   x
//
// Only with one scale and zero point for all, and not for constants, whose
// views patterns look for themselves.
#include <cmath>
#include <limits>

#include "src/passes/patterns.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

// Calls of which the first argument is the only tensor and keeps its type.
bool is_view(const fx::Node& node, const Tensor& integers) {
  const ops::Op* const op = node.called_op();
  if (!op || !node.val().is_tensor()) return false;
  const bool reshapes = op->row.lowering == ops::Lowering::reshape;
  if (!reshapes && op->row.lowering != ops::Lowering::view) return false;
  if (node.val_tensor().dtype() != DType::f32) return false;
  bool plain = node.all_input_nodes().size() == 1;
  for (const Value& arg : node.args()) plain = plain && !arg.is_dtype();
  return plain && (op->name() != "view" || integers.is_contiguous());
}

fx::NodePtr moved_view(ModelGraph& model, fx::NodePtr node) {
  const fx::NodePtr first = node->args().empty() || !node->arg(0).is_node()
                                ? nullptr
                                : node->arg_node(0);
  const auto x = quantised(first);
  if (!x || x->input->is(fx::Opcode::get_attr) || !x->fits({1}) ||
      !is_view(*node, x->input->val_tensor()))
    return nullptr;
  ValueList args = node->args();
  args[0] = x->input;
  CallWriter write(*model.graph, node);
  return write.call("fxjit.dequantize",
                    {write.call(*node->called_op(), args), x->scale, x->zero});
}

const Tensor* known_number(const ModelGraph& model, const Value& value) {
  if (!value.is_node() || !value.as_node()->is(fx::Opcode::get_attr))
    return nullptr;
  const Tensor& tensor = model.constant(*value.as_node());
  return !tensor.is_meta() && tensor.numel() == 1 ? &tensor : nullptr;
}

// A scale by which every integer of 8 bits is found again: neither a product
// nor a quotient leaves the normal numbers.
bool keeps_integers(float scale) {
  constexpr float kMost = std::numeric_limits<float>::max() / 256;
  return std::isnormal(scale) && std::abs(scale) < kMost;
}

bool same_scale(const ModelGraph& model, const Value& a, const Value& b) {
  const Tensor *const s = known_number(model, a), *const t =
                                                      known_number(model, b);
  if (!s || !t || s->dtype() != DType::f32 || t->dtype() != DType::f32)
    return false;
  const float scale = *s->data_as<float>();
  return scale == *t->data_as<float>() && keeps_integers(scale);
}

bool same_zero(const ModelGraph& model, const Value& a, const Value& b) {
  const auto number = [&](const Value& zero) -> std::optional<int64_t> {
    if (zero.is_none()) return 0;
    const Tensor* const known = known_number(model, zero);
    if (!known || !is_integral(known->dtype())) return std::nullopt;
    return *known->to(DType::i64).data_as<int64_t>();
  };
  const auto p = number(a), q = number(b);
  return p && p == q;
}

fx::NodePtr unchanged(const ModelGraph& model, const fx::Node& node) {
  static const ops::Op& quantize = ops::get_op("fxjit.quantize");
  if (node.called_op() != &quantize || !node.arg(0).is_node()) return nullptr;
  const auto x = quantised(node.arg_node(0));
  if (!x) return nullptr;
  const DType dtype = x->input->val_tensor().dtype();
  const int64_t low = dtype == DType::u8 ? 0 : -128;
  const bool whole = node.val_tensor().dtype() == dtype &&
                     node.arg(3).as_double() <= static_cast<double>(low) &&
                     node.arg(4).as_double() >= static_cast<double>(low + 255);
  return whole && same_scale(model, x->scale, node.arg(1)) &&
                 same_zero(model, x->zero, node.arg(2))
             ? x->input
             : nullptr;
}

}  // namespace

int quantised_views(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    fx::NodePtr made = moved_view(model, node);
    if (!made) made = unchanged(model, *node);
    if (!made) return false;
    node->replace_all_uses_with(made);
    model.graph->erase_node(node);
    return true;
  });
}

}  // namespace fxjit::passes
