#include "src/passes/patterns/attention_scores.h"

#include <cmath>

namespace fxjit::passes {
namespace {

// Steps between product and softmax; bounds the search where both terms of a
// sum may be the scores.
constexpr int kMaxSteps = 12;

const Value& argument(const fx::Node& node, std::string_view name) {
  return node.arg(static_cast<size_t>(node.called_op()->index_of(name)));
}

bool fits(const fx::Node* mask, const fx::Node& scores, DType dtype) {
  return mask && mask->val().is_tensor() &&
         mask->val_tensor().dtype() == dtype &&
         mask->val_tensor().dim() <= scores.val_tensor().dim();
}

class Follower {
 public:
  explicit Follower(const ModelGraph& model) : model_(model) {}

  // Whether `node`, times `outer` later on, are scores.
  bool follow(fx::NodePtr node, double outer, int steps) {
    if (steps > kMaxSteps || !node || !node->val().is_tensor() ||
        !single_use(node) || node->val_tensor().dtype() != DType::f32 ||
        node->val_tensor().dim() < 2)
      return false;
    if (!found_in(*node, outer, steps + 1)) return false;
    found_.shapes.push_back(node->val_tensor().sizes());
    return true;
  }

  WrittenScores take() { return std::move(found_); }

 private:
  bool found_in(const fx::Node& node, double outer, int steps) {
    if (is_product(&node))
      return end(node.arg_node(0), node.arg_node(1), outer);
    if (calls_op(&node, "baddbmm")) return added_product(node, outer);
    if (keeps_scores(node)) return follow(node.arg_node(0), outer, steps);
    if (const auto scaled = scaled_by_number(model_, node))
      return follow(scaled->input, outer * scaled->factor, steps);
    if (calls_op(&node, "add") || calls_op(&node, "sub"))
      return masked_sum(node, outer, steps);
    if (calls_op(&node, "where")) return selected(node, outer, steps);
    if (calls_op(&node, "masked_fill"))
      return masked(node, 0, node.arg_node(1), MaskKind::fill, node.arg(2),
                    outer, steps);
    return false;
  }

  bool end(fx::NodePtr query, fx::NodePtr key, double scale) {
    found_.query = query;
    found_.key = key;
    found_.scale = scale;
    return true;
  }

  // beta * mask + alpha * product.
  bool added_product(const fx::Node& node, double outer) {
    fx::NodePtr mask = node.arg_node(0);
    const Value& beta = argument(node, "beta");
    const Value& alpha = argument(node, "alpha");
    if (!fits(mask, node, DType::f32) || !beta.is_number() ||
        !alpha.is_number() || alpha.as_double() == 0 || beta.as_double() == 0)
      return false;
    add_mask(node, mask, MaskKind::add, outer * beta.as_double());
    return end(node.arg_node(1), node.arg_node(2), outer * alpha.as_double());
  }

  bool masked_sum(const fx::Node& node, double outer, int steps) {
    const bool difference = calls_op(&node, "sub");
    const Value& alpha = argument(node, "alpha");
    if (!alpha.is_number()) return false;
    for (size_t i : {0u, 1u}) {
      const double factor = alpha.as_double() * (difference ? -1 : 1);
      fx::NodePtr mask = node.arg_node(1 - i);
      if (!fits(mask, node, DType::f32) || (i == 1 && factor != 1)) continue;
      if (!same_shape(node, i) || !follow(node.arg_node(i), outer, steps))
        continue;
      add_mask(node, mask, MaskKind::add, outer * factor);
      return true;
    }
    return false;
  }

  bool selected(const fx::Node& node, double outer, int steps) {
    fx::NodePtr condition = node.arg_node(0);
    return masked(node, 1, condition, MaskKind::keep, node.arg(2), outer,
                  steps) ||
           masked(node, 2, condition, MaskKind::fill, node.arg(1), outer,
                  steps);
  }

  // Argument `at` where the condition is so, else a number.
  bool masked(const fx::Node& node, size_t at, fx::NodePtr condition,
              MaskKind kind, const Value& other, double outer, int steps) {
    const std::optional<double> value = number_of(model_, other);
    if (!value || !fits(condition, node, DType::boolean) ||
        !same_shape(node, at) || !follow(node.arg_node(at), outer, steps))
      return false;
    add_mask(node, condition, kind, outer * *value);
    return true;
  }

  static bool same_shape(const fx::Node& node, size_t at) {
    const fx::Node* inner = node.arg_node(at);
    return inner && inner->val().is_tensor() &&
           inner->val_tensor().sizes() == node.val_tensor().sizes();
  }

  void add_mask(const fx::Node& node, fx::NodePtr mask, MaskKind kind,
                double value) {
    found_.masks.push_back({mask, kind, value, node.val_tensor().sizes()});
  }

  const ModelGraph& model_;
  WrittenScores found_;
};

}  // namespace

bool single_use(const fx::Node* node) { return node->num_users() == 1; }

bool calls_op(const fx::Node* node, std::string_view name) {
  return node && node->called_op() && node->called_op()->name() == name;
}

bool is_product(const fx::Node* node) {
  if (!calls_op(node, "matmul") && !calls_op(node, "bmm") &&
      !calls_op(node, "mm"))
    return false;
  for (size_t i : {0u, 1u})
    if (node->arg_node(i)->val_tensor().dtype() != DType::f32 ||
        node->arg_node(i)->val_tensor().dim() < 2)
      return false;
  return true;
}

bool keeps_scores(const fx::Node& node) {
  if (!node.called_op() || node.args().empty() || !node.arg_node(0) ||
      !node.val().is_tensor() || !node.arg_node(0)->val().is_tensor())
    return false;
  const Tensor to = node.val_tensor(), from = node.arg_node(0)->val_tensor();
  if (to.dtype() != from.dtype()) return false;
  const std::string_view name = node.called_op()->name();
  if (name == "clone" || name == "contiguous" || name == "to" ||
      name == "type_as")
    return true;
  const bool reshapes = name == "view" || name == "reshape" ||
                        name == "view_as" || name == "reshape_as" ||
                        name == "unflatten" || name == "flatten" ||
                        name == "squeeze" || name == "unsqueeze";
  return reshapes && to.dim() >= 2 && from.dim() >= 2 &&
         to.size(-1) == from.size(-1) && to.size(-2) == from.size(-2);
}

std::optional<double> number_of(const ModelGraph& model, const Value& value) {
  if (value.is_number()) return value.as_double();
  if (!value.is_node() || !value.as_node()->is(fx::Opcode::get_attr))
    return std::nullopt;
  const Tensor& constant = model.constant(*value.as_node());
  if (constant.is_meta() || constant.numel() != 1 || constant.dim() != 0 ||
      constant.dtype() == DType::boolean)
    return std::nullopt;
  return *constant.to(DType::f64).contiguous().data_as<double>();
}

std::optional<Scaled> scaled_by_number(const ModelGraph& model,
                                       const fx::Node& node) {
  const bool division = calls_op(&node, "div");
  if (!division && !calls_op(&node, "mul")) return std::nullopt;
  if (division && !argument(node, "rounding_mode").is_none())
    return std::nullopt;
  for (size_t i : {0u, 1u}) {
    if (i == 1 && division) break;
    fx::NodePtr input = node.arg_node(i);
    const std::optional<double> number = number_of(model, node.arg(1 - i));
    if (!input || !number || *number == 0 || !std::isfinite(*number) ||
        input->val_tensor().dtype() != node.val_tensor().dtype() ||
        input->val_tensor().sizes() != node.val_tensor().sizes())
      continue;
    return Scaled{input, division ? 1 / *number : *number};
  }
  return std::nullopt;
}

std::optional<WrittenScores> match_scores(const ModelGraph& model,
                                          fx::NodePtr node) {
  Follower follower(model);
  if (!follower.follow(node, 1, 0)) return std::nullopt;
  return follower.take();
}

}  // namespace fxjit::passes
