// Attention written out becomes one call:
//
//   s = matmul(q * c, k)              kt = transpose(k, -2, -1)
//   s = s / c, s + mask, view(s) ..   y = written_attention(
//   p = softmax(s, -1)                        q, kt, v, masks, scale)
//   y = matmul(p, v)             ==>
//
// Scales, masks and reshapes of the leading dims come in any order and number
// (src/passes/patterns/attention_scores.h). Masks may broadcast along any
// factor of the leading dims: windows of an image, heads, beams. Not where the
// scores or the probabilities are used elsewhere.
//
// Exporters write "a query that sees no key gives zeros" as where(isnan(p), 0,
// p). It is taken as that, so a NaN among the scores stays one.
#include <algorithm>
#include <optional>

#include "src/passes/origins.h"
#include "src/passes/patterns.h"
#include "src/passes/patterns/attention_scores.h"
#include "src/passes/patterns/shared_heads.h"

namespace fxjit::passes {
namespace {

struct AttentionMatch {
  WrittenScores scores;
  fx::NodePtr value = nullptr;
  fx::NodePtr product = nullptr;  // Of probabilities and values.
  fx::NodePtr last = nullptr;     // The product or a reshape of it.
  // Leading dims that all shapes on the way are products of.
  Dims leading;
  bool zero_rows = false;  // Queries that see no key: zeros, else NaN.
};

// p of where(isnan(p), 0, p), used nowhere else; null for anything else.
fx::NodePtr without_nan(const ModelGraph& model, const fx::Node* node) {
  if (!calls_op(node, "where") || !single_use(node)) return nullptr;
  const fx::Node* const test = node->arg_node(0);
  fx::NodePtr p = node->arg_node(2);
  const bool zeros = calls_op(test, "isnan") && single_use(test) && p &&
                     test->arg_node(0) == p && p->num_users() == 2 &&
                     number_of(model, node->arg(1)) == 0.0;
  return zeros ? p : nullptr;
}

bool softmax_of_last_dim(const fx::Node* node) {
  if (!calls_op(node, "softmax")) return false;
  const int at = node->called_op()->index_of("dim");
  const Value& dim = node->arg(static_cast<size_t>(at));
  const int rank = node->val_tensor().dim();
  return dim.is_int() && wrap_dim(dim.as_int(), rank) == rank - 1 &&
         node->val_tensor().dtype() == DType::f32 &&
         node->arg_node(0)->val_tensor().dtype() == DType::f32;
}

// Dims of which every shape's dims but the last two are products; nothing
// where two shapes cut their elements at different places.
std::optional<Dims> common_factors(const std::vector<Dims>& shapes) {
  std::vector<Size> cuts{1};
  for (const Dims& shape : shapes) {
    Size elements = 1;
    for (int d = shape.size() - 3; d >= 0; --d)
      cuts.push_back(elements *= shape[d]);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  if (cuts.size() + 1 > static_cast<size_t>(kMaxRank)) return std::nullopt;
  Dims factors(static_cast<int>(cuts.size()) - 1, 0);
  for (size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] % cuts[i - 1] != 0) return std::nullopt;
    factors[factors.size() - static_cast<int>(i)] = cuts[i] / cuts[i - 1];
  }
  return factors;
}

Size leading_elements(const Dims& shape) {
  Size elements = 1;
  for (int d = 0; d < shape.size() - 2; ++d) elements *= shape[d];
  return elements;
}

// Dims -2 and -1 the other way round.
fx::NodePtr transposed_source(const fx::Node* node) {
  if (!calls_op(node, "transpose")) return nullptr;
  const int rank = node->val_tensor().dim();
  for (size_t i : {1u, 2u})
    if (wrap_dim(node->arg(i).as_int(), rank) < rank - 2) return nullptr;
  return node->arg(1).as_int() == node->arg(2).as_int() ? nullptr
                                                        : node->arg_node(0);
}

// [.., heads, groups, rows, depth] of repeated heads.
Dims expanded_sizes(const SharedHeads& heads) {
  Dims sizes = heads.base->val_tensor().sizes();
  if (!heads.expanded) sizes.insert(sizes.size() - 2, heads.groups);
  return sizes;
}

std::optional<AttentionMatch> match_attention(const ModelGraph& model,
                                              fx::NodePtr product) {
  if (!is_product(product) || product->val_tensor().numel() == 0)
    return std::nullopt;
  AttentionMatch match;
  match.product = match.last = product;
  match.value = product->arg_node(1);
  fx::NodePtr probabilities = product->arg_node(0);
  std::vector<Dims> shapes{product->val_tensor().sizes()};
  while (keeps_scores(*probabilities) && single_use(probabilities)) {
    shapes.push_back(probabilities->val_tensor().sizes());
    probabilities = probabilities->arg_node(0);
  }
  if (fx::NodePtr inner = without_nan(model, probabilities)) {
    probabilities = inner;
    match.zero_rows = true;
  } else if (!single_use(probabilities)) {
    return std::nullopt;
  }
  if (!softmax_of_last_dim(probabilities)) return std::nullopt;
  auto scores = match_scores(model, probabilities->arg_node(0));
  if (!scores) return std::nullopt;
  match.scores = std::move(*scores);
  if (match.scores.query->val_tensor().numel() == 0) return std::nullopt;
  // The batch that a model sees through a view is the better one to know.
  if (single_use(product) && keeps_scores(**product->users().begin())) {
    match.last = *product->users().begin();
    shapes.push_back(match.last->val_tensor().sizes());
  }
  for (const Dims& shape : match.scores.shapes) shapes.push_back(shape);
  // Repeated heads are read in place where nothing else is broadcast.
  for (const fx::Node* heads :
       {transposed_source(match.scores.key), match.value})
    if (const auto shared = heads ? shared_heads(*heads) : std::nullopt)
      if (Dims wide = expanded_sizes(*shared);
          leading_elements(wide) == leading_elements(shapes[0]))
        shapes.push_back(wide);
  for (const Dims& shape : shapes)
    if (leading_elements(shape) != leading_elements(shapes[0]))
      return std::nullopt;
  const std::optional<Dims> leading = common_factors(shapes);
  if (!leading) return std::nullopt;
  match.leading = *leading;
  return match;
}

class Replacement {
 public:
  Replacement(ModelGraph& model, AttentionMatch& match)
      : model_(model), graph_(*model.graph), match_(match) {}

  void apply() {
    auto scope = graph_.inserting_before(match_.last);
    WrittenScores& scores = match_.scores;
    const std::vector<fx::NodePtr> replaced = calls_replaced();
    scores.query = without_scale(scores.query);
    scores.key = without_scale(scores.key);
    const Dims product = scores.shapes.front();
    const Dims values = match_.product->val_tensor().sizes();
    fx::NodePtr keys = transposed_source(scores.key);
    if (!keys) keys = call("transpose", {scores.key, -2, -1});
    ValueList masks, kinds, numbers;
    for (const ScoreMask& mask : scores.masks) {
      masks.push_back(spread(mask.tensor, mask.scores, true));
      kinds.push_back(static_cast<int64_t>(mask.kind));
      numbers.push_back(mask.value);
    }
    fx::NodePtr fused = call(
        written_attention_op(),
        {spread(scores.query, product), spread(keys, product),
         spread(match_.value, values), Value::list(masks), Value::list(kinds),
         Value::list(numbers), scores.scale, inner_dims(), match_.zero_rows});
    fused->copy_meta_from(*match_.last);
    take_origins(*fused, replaced);
    const Dims& wanted = match_.last->val_tensor().sizes();
    Dims made = match_.leading;
    made.push_back(wanted[wanted.size() - 2]);
    made.push_back(wanted.back());
    fused->set_val(Tensor::meta(made, DType::f32));
    fx::NodePtr result = fused;
    if (!(made == wanted)) result = call("reshape", {fused, wanted});
    match_.last->replace_all_uses_with(result);
    graph_.erase_node(match_.last);
  }

 private:
  std::vector<fx::NodePtr> calls_replaced() const {
    std::vector<fx::NodePtr> inputs{match_.scores.query, match_.scores.key,
                                    match_.value};
    for (const ScoreMask& mask : match_.scores.masks)
      inputs.push_back(mask.tensor);
    return calls_between(inputs, match_.last);
  }

  fx::NodePtr call(const ops::Op& op, const ValueList& args) {
    fx::NodePtr node =
        graph_.call_function(op.canonical, ops::bind(op, args, {}));
    node->set_val(ops::infer({op, vals_of(node->args())}));
    node->set_source(match_.last->source());
    node->set_module_stack(match_.last->module_stack());
    return node;
  }
  fx::NodePtr call(const char* name, const ValueList& args) {
    return call(ops::get_op(name), args);
  }

  // A tensor that broadcasts to `leading` of these scores, its leading dims
  // replaced by the common factors.
  fx::NodePtr spread(fx::NodePtr tensor, const Dims& scores,
                     bool whole = false) {
    const Tensor t = tensor->val_tensor();
    Dims sizes = scores, made = match_.leading;
    if (!whole) {
      sizes[sizes.size() - 2] = t.size(-2);
      sizes[sizes.size() - 1] = t.size(-1);
    }
    made.push_back(sizes[sizes.size() - 2]);
    made.push_back(sizes.back());
    if (fx::NodePtr shared = whole ? nullptr : in_place(tensor, made))
      return shared;
    if (!(t.sizes() == sizes)) tensor = call("expand", {tensor, sizes});
    return sizes == made ? tensor : call("reshape", {tensor, made});
  }

  // Repeated heads, each of which is there once; null where `tensor` has none
  // or other dims are broadcast.
  fx::NodePtr in_place(fx::NodePtr tensor, const Dims& made) {
    const auto heads = shared_heads(*tensor);
    if (!heads || numel(expanded_sizes(*heads)) != numel(made)) return nullptr;
    fx::NodePtr wide = heads->base;
    if (!heads->expanded)
      wide = call("expand",
                  {call("unsqueeze", {wide, -3}), expanded_sizes(*heads)});
    return call("reshape", {wide, made});
  }

  // How many of the leading dims form the last one of the result: the heads.
  int inner_dims() const {
    const Dims& sizes = match_.last->val_tensor().sizes();
    if (sizes.size() < 3) return 0;
    int count = 0;
    Size elements = 1;
    while (elements < sizes[sizes.size() - 3])
      elements *= match_.leading[match_.leading.size() - 1 - count++];
    return count;
  }

  // Queries or keys that are scaled before their product, perhaps seen through
  // views: the scale moves to the scores.
  fx::NodePtr without_scale(fx::NodePtr tensor) {
    fx::NodePtr inner = tensor;
    fx::NodePtr above = nullptr;
    while (single_use(inner) && is_view(*inner)) {
      above = inner;
      inner = inner->arg_node(0);
    }
    const auto scaled = scaled_by_number(model_, *inner);
    if (!scaled) return tensor;
    if (above) {
      const Tensor from = inner->val_tensor();
      const Tensor to = scaled->input->val_tensor();
      if (!single_use(inner) || !(from.strides() == to.strides()) ||
          from.offset() != to.offset())
        return tensor;
      above->set_arg(0, scaled->input);
    }
    match_.scores.scale *= scaled->factor;
    return above ? tensor : scaled->input;
  }

  static bool is_view(const fx::Node& node) {
    const ops::Op* op = node.called_op();
    return op && node.val().is_tensor() && !node.args().empty() &&
           node.arg_node(0) && node.arg_node(0)->val().is_tensor() &&
           (op->row.lowering == ops::Lowering::view ||
            op->row.lowering == ops::Lowering::reshape) &&
           op->name() != "as_strided" &&
           node.val_tensor().dtype() == node.arg_node(0)->val_tensor().dtype();
  }

  ModelGraph& model_;
  fx::Graph& graph_;
  AttentionMatch& match_;
};

}  // namespace

int fuse_attention(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    std::optional<AttentionMatch> match = match_attention(model, node);
    if (match) Replacement(model, *match).apply();
    return match.has_value();
  });
}

}  // namespace fxjit::passes
