// Attention reads repeated heads of keys and values where they lie:
//
//   k2 = repeat_interleave(k, n, -3)   (or reshape(expand(unsqueeze(k, -3))))
//   v2 = repeat_interleave(v, n, -3)      ==>
//   scaled_dot_product_attention(          scaled_dot_product_attention(
//       q, k2, v2, ..)                         q, k, v, .., enable_gqa=True)
#include "src/passes/lowering/lower.h"
#include "src/passes/patterns.h"
#include "src/passes/patterns/attention_scores.h"
#include "src/passes/patterns/shared_heads.h"

namespace fxjit::passes {
namespace {

std::optional<SharedHeads> by_expansion(const fx::Node& node) {
  if (!calls_op(&node, "reshape") && !calls_op(&node, "view"))
    return std::nullopt;
  const fx::Node* from = node.arg_node(0);
  if (!from || !from->val().is_tensor()) return std::nullopt;
  const Tensor wide = from->val_tensor(), made = node.val_tensor();
  const int heads = made.dim() - 3;
  if (heads < 0 || wide.dim() != made.dim() + 1 || wide.size(-3) < 2 ||
      wide.stride(-3) != 0 || wide.size(-1) != made.size(-1) ||
      wide.size(-2) != made.size(-2))
    return std::nullopt;
  for (int d = 0; d < heads; ++d)
    if (wide.sizes()[d] != made.sizes()[d]) return std::nullopt;
  return SharedHeads{node.arg_node(0), true, wide.size(-3)};
}

std::optional<SharedHeads> by_repetition(const fx::Node& node) {
  if (!calls_op(&node, "repeat_interleave")) return std::nullopt;
  const Value &repeats = node.arg(1), &dim = node.arg(2);
  fx::NodePtr from = node.arg_node(0);
  const int rank = node.val_tensor().dim();
  if (!from || !repeats.is_int() || repeats.as_int() < 2 || !dim.is_int() ||
      rank < 3 || wrap_dim(dim.as_int(), rank) != rank - 3)
    return std::nullopt;
  return SharedHeads{from, false, repeats.as_int()};
}

bool rewrite(fx::Graph& graph, fx::NodePtr node, const ops::Op& attention) {
  if (node->called_op() != &attention) return false;
  const auto at = [&](const char* name) {
    return static_cast<size_t>(attention.index_of(name));
  };
  if (node->arg(at("enable_gqa")).as_bool()) return false;
  const auto key = shared_heads(*node->arg_node(at("key")));
  const auto value = shared_heads(*node->arg_node(at("value")));
  const Tensor query = node->arg_node(at("query"))->val_tensor();
  if (!key || !value || key->groups != value->groups ||
      query.dim() != node->arg_node(at("key"))->val_tensor().dim() ||
      query.size(-3) != node->arg_node(at("key"))->val_tensor().size(-3))
    return false;
  auto scope = graph.inserting_before(node);
  const auto base = [&](const SharedHeads& heads) {
    if (!heads.expanded) return heads.base;
    const ops::Op& select = ops::get_op("select");
    fx::NodePtr made =
        graph.call_function(select.canonical, {heads.base, -3, 0});
    made->set_val(ops::infer({select, vals_of(made->args())}));
    return made;
  };
  node->set_arg(at("key"), base(*key));
  node->set_arg(at("value"), base(*value));
  node->set_arg(at("enable_gqa"), true);
  return true;
}

}  // namespace

std::optional<SharedHeads> shared_heads(const fx::Node& node) {
  if (!node.called_op() || !node.val().is_tensor()) return std::nullopt;
  if (auto heads = by_expansion(node)) return heads;
  return by_repetition(node);
}

int share_heads(ModelGraph& model) {
  const ops::Op& attention = ops::get_op("scaled_dot_product_attention");
  return rewrite_each(model, [&](fx::NodePtr node) {
    return rewrite(*model.graph, node, attention);
  });
}

}  // namespace fxjit::passes
