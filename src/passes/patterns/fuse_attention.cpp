// Attention written out becomes one call:
//
//   s = matmul(q, k)                     kt = transpose(k, -2, -1)
//   s = s / c   or   s * c   (optional)  y = written_attention(
//   s = s + mask             (optional)          q, kt, v, mask, c)
//   p = softmax(s, -1)            ==>
//   y = matmul(p, v)
//
// Not where the scores or the probabilities are used elsewhere.
#include <optional>

#include "src/passes/lower.h"
#include "src/passes/patterns.h"

namespace fxjit::passes {
namespace {

struct Match {
  fx::Node* query = nullptr;
  fx::Node* key = nullptr;  // [.., depth, keys]
  fx::Node* value = nullptr;
  Value mask;
  double scale = 1;
};

bool is_matmul(const fx::Node* node) {
  if (!node || !node->called_op()) return false;
  const std::string_view name = node->called_op()->name();
  return (name == "matmul" || name == "bmm") &&
         node->arg_node(0)->val_tensor().dtype() == DType::f32 &&
         node->arg_node(0)->val_tensor().dim() >= 3 &&
         node->arg_node(1)->val_tensor().dim() ==
             node->arg_node(0)->val_tensor().dim();
}

bool called(const fx::Node* node, std::string_view name) {
  return node && node->called_op() && node->called_op()->name() == name;
}

bool single_use(const fx::Node* node) { return node->num_users() == 1; }

bool softmax_of_last_dim(const fx::Node* node) {
  if (!called(node, "softmax") || !single_use(node)) return false;
  const int at = node->called_op()->index_of("dim");
  const Value& dim = node->arg(static_cast<size_t>(at));
  const int rank = node->val_tensor().dim();
  return dim.is_int() && wrap_dim(dim.as_int(), rank) == rank - 1 &&
         node->val_tensor().dtype() == DType::f32;
}

// Removes an added mask: scores + mask, alpha 1.
fx::Node* strip_mask(fx::Node* scores, Match& match) {
  if (!called(scores, "add") || !single_use(scores)) return scores;
  const int alpha = scores->called_op()->index_of("alpha");
  if (alpha >= 0 && !same(scores->arg(static_cast<size_t>(alpha)), 1))
    return scores;
  for (size_t i : {0u, 1u}) {
    fx::Node* inner = scores->arg_node(i);
    fx::Node* mask = scores->arg_node(1 - i);
    if (!inner || !mask || !single_use(inner)) continue;
    if (inner->val_tensor().sizes() != scores->val_tensor().sizes()) continue;
    const bool product = is_matmul(inner) || called(inner, "div") ||
                         called(inner, "mul");
    if (!product || mask->val_tensor().dtype() != DType::f32 ||
        mask->val_tensor().dim() > scores->val_tensor().dim())
      continue;
    match.mask = Value(mask);
    return inner;
  }
  return scores;
}

// Removes a division or multiplication by a number.
fx::Node* strip_scale(fx::Node* scores, Match& match) {
  const bool division = called(scores, "div");
  if ((!division && !called(scores, "mul")) || !single_use(scores))
    return scores;
  if (!scores->arg(1).is_number() || !scores->arg_node(0)) return scores;
  if (const int mode = scores->called_op()->index_of("rounding_mode");
      mode >= 0 && !scores->arg(static_cast<size_t>(mode)).is_none())
    return scores;
  const double factor = scores->arg(1).as_double();
  if (factor == 0) return scores;
  match.scale = division ? 1 / factor : factor;
  return scores->arg_node(0);
}

std::optional<Match> match_attention(const fx::Node* product) {
  if (!is_matmul(product)) return std::nullopt;
  fx::Node* softmax = product->arg_node(0);
  if (!softmax_of_last_dim(softmax)) return std::nullopt;
  Match match;
  fx::Node* scores = strip_mask(softmax->arg_node(0), match);
  scores = strip_scale(scores, match);
  if (!is_matmul(scores) || !single_use(scores)) return std::nullopt;
  match.query = scores->arg_node(0);
  match.key = scores->arg_node(1);
  match.value = product->arg_node(1);
  const Tensor& q = match.query->val_tensor();
  const Tensor& v = match.value->val_tensor();
  if (q.dim() > 4 || v.dim() != q.dim() || q.numel() == 0 || v.numel() == 0)
    return std::nullopt;
  for (int d = 0; d < q.dim() - 2; ++d)
    if (v.sizes()[d] != q.sizes()[d] ||
        match.key->val_tensor().sizes()[d] != q.sizes()[d])
      return std::nullopt;
  return match;
}

void replace(fx::Graph& graph, fx::Node* product, const Match& match) {
  auto scope = graph.inserting_before(product);
  const Tensor key = match.key->val_tensor();
  Dims sizes = key.sizes(), strides = key.strides();
  const int last = key.dim() - 1;
  std::swap(sizes[last], sizes[last - 1]);
  std::swap(strides[last], strides[last - 1]);
  fx::Node* keys = graph.call_function(ops::get_op("transpose").canonical,
                                       {match.key, -2, -1});
  keys->set_val(Tensor::meta(sizes, key.dtype(), strides, key.offset()));
  fx::Node* fused = graph.call_function(
      written_attention_op().canonical,
      {match.query, keys, match.value, match.mask, match.scale});
  fused->copy_meta_from(*product);
  product->replace_all_uses_with(fused);
  graph.erase_node(product);
}

}  // namespace

int fuse_attention(ModelGraph& model) {
  int count = 0;
  for (fx::Node* node : model.graph->nodes()) {
    const std::optional<Match> match = match_attention(node);
    if (!match) continue;
    replace(*model.graph, node, *match);
    ++count;
  }
  if (count > 0) model.graph->eliminate_dead_code();
  return count;
}

}  // namespace fxjit::passes
