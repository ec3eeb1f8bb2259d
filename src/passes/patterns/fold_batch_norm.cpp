// Batch norm in inference behind a convolution becomes part of its weights:
//
//   y = conv(x, w, b)                         s = gamma / sqrt(var + eps)
//   z = batch_norm(y, mean, var,      ==>     z = conv(x, w * s, (b - mean) * s
//                  gamma, beta, eps)                       + beta)
//
// Not where the convolution is used elsewhere, is transposed or without a batch
// (batch norm then takes another dim for the channels), anything but x is not a
// constant, or one of s, mean and beta is not finite.
// src/ops/eager/folded_norm.h computes the new weights.
#include <optional>

#include "src/ops/eager/folded_norm.h"
#include "src/passes/folded_weights.h"
#include "src/passes/origins.h"
#include "src/passes/patterns.h"

namespace fxjit::passes {
namespace {

struct NormMatch {
  fx::NodePtr conv = nullptr;
  Tensor weight, bias, mean, var, gamma, beta;  // Undefined where absent.
  double eps = 0;
};

bool is_convolution(const fx::Node* node) {
  if (!node || !node->called_op()) return false;
  const ops::Op& op = *node->called_op();
  if (op.name() == "convolution")
    return !node->arg(static_cast<size_t>(op.index_of("transposed"))).as_bool();
  const std::string_view name = op.name();
  return name == "conv1d" || name == "conv2d" || name == "conv3d";
}

// The constant at `arg`, undefined for none. False when it is no f32 constant.
bool constant_arg(const ModelGraph& model, const fx::Node& node, size_t arg,
                  Tensor* out) {
  const Value& value = node.arg(arg);
  if (value.is_none()) return true;
  if (!value.is_node() || !value.as_node()->is(fx::Opcode::get_attr))
    return false;
  *out = model.constant(*value.as_node());
  return !out->is_meta() && out->dtype() == DType::f32;
}

std::optional<NormMatch> match_norm(const ModelGraph& model,
                                    const fx::Node& norm) {
  const ops::Op* op = norm.called_op();
  if (!op || op->name() != "batch_norm") return std::nullopt;
  const auto at = [&](const char* name) {
    return static_cast<size_t>(op->index_of(name));
  };
  NormMatch match;
  match.conv = norm.arg_node(0);
  if (!is_convolution(match.conv) || match.conv->num_users() != 1 ||
      norm.arg(at("training")).as_bool())
    return std::nullopt;
  const bool constants =
      constant_arg(model, *match.conv, 1, &match.weight) &&
      constant_arg(model, *match.conv, 2, &match.bias) &&
      constant_arg(model, norm, at("running_mean"), &match.mean) &&
      constant_arg(model, norm, at("running_var"), &match.var) &&
      constant_arg(model, norm, at("weight"), &match.gamma) &&
      constant_arg(model, norm, at("bias"), &match.beta);
  if (!constants || !match.weight.defined() || !match.mean.defined() ||
      !match.var.defined())
    return std::nullopt;
  if (match.conv->val_tensor().dim() != match.weight.dim()) return std::nullopt;
  match.eps = norm.arg(at("eps")).as_double();
  return match;
}

ops::FoldedNorm norm_of(const NormMatch& match) {
  return {match.mean, match.var, match.gamma, match.beta, match.eps};
}

// The weight and the bias. The weight is as large as the model's own and is
// mostly read once, when it is packed: its numbers are made then.
std::vector<Tensor> fold(const NormMatch& match) {
  const ops::FoldedNorm norm = norm_of(match);
  return {made_when_read(match.weight, match.weight.sizes(),
                         [weight = match.weight, norm](std::byte* out) {
                           norm.scale(weight, out);
                         }),
          norm.bias(match.bias, DType::f32)};
}

std::vector<Tensor> fold_once(const ModelGraph& model, const NormMatch& match) {
  const auto make = [&] { return fold(match); };
  if (!model.folded) return make();
  return model.folded->get({match.weight, match.bias, match.mean, match.var,
                            match.gamma, match.beta},
                           match.eps, make);
}

fx::NodePtr add_constant(ModelGraph& model, const Tensor& tensor) {
  const auto index = static_cast<int64_t>(model.constants.size());
  model.constants.push_back(tensor);
  fx::NodePtr node = model.graph->get_attr("constant_" + std::to_string(index));
  node->meta().set("constant", index);
  node->set_val(Tensor::meta(tensor.sizes(), tensor.dtype()));
  return node;
}

}  // namespace

int fold_batch_norm(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    const std::optional<NormMatch> match = match_norm(model, *node);
    if (!match || !norm_of(*match).is_finite()) return false;
    const std::vector<Tensor> folded = fold_once(model, *match);
    auto scope = model.graph->inserting_before(match->conv);
    match->conv->set_arg(1, add_constant(model, folded[0]));
    match->conv->set_arg(2, add_constant(model, folded[1]));
    take_origins(*match->conv, std::vector{match->conv, node});
    node->replace_all_uses_with(match->conv);
    model.graph->erase_node(node);
    return true;
  });
}

}  // namespace fxjit::passes
