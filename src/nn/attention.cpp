#include "fxjit/nn/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/nn/attention_checks.h"

namespace fxjit::nn {
namespace {

int64_t size(const Value& x, int64_t dim) {
  return method(x, "size", {dim}).as_int();
}

double xavier_bound(int64_t in, int64_t out) {
  return std::sqrt(6.0 / static_cast<double>(std::max<int64_t>(in + out, 1)));
}

// What a mask adds to the scores.
Value added(const Value& mask) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Value kind = method(mask, "is_floating_point", {});
  if (kind.as_bool()) return mask;
  return where(mask, -kInfinity, 0.0);
}

// Both masks for scores of these sizes [N, heads, L, S], none without them.
// Keys beyond S, up to `keys`, stay visible.
Value merged(const Value& attn_mask, const Value& key_padding_mask,
             const Dims& scores, int64_t keys) {
  Value mask;
  if (!attn_mask.is_none()) {
    mask = added(attn_mask);
    if (method(mask, "dim", {}).as_int() == 3)
      mask = reshape(mask, Value(scores));
  }
  if (!key_padding_mask.is_none()) {
    const Value hidden =
        reshape(added(key_padding_mask), Dims{scores[0], 1, 1, scores[3]});
    mask = mask.is_none() ? hidden : mask + hidden;
  }
  if (mask.is_none() || keys == scores[3]) return mask;
  return functional::pad(mask, Dims{0, keys - scores[3]});
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                                       MultiheadOptions options)
    : MultiheadAttention(
          LayerArgs::of({embed_dim, num_heads, options.dropout, options.bias,
                         options.add_bias_kv, options.add_zero_attn,
                         options.kdim, options.vdim, options.batch_first})) {}

MultiheadOptions MultiheadAttention::read_options() {
  return {.dropout = field("dropout"),
          .bias = field("bias"),
          .add_bias_kv = field("add_bias_kv"),
          .add_zero_attn = field("add_zero_attn"),
          .kdim = field("kdim").or_none<int64_t>(),
          .vdim = field("vdim").or_none<int64_t>(),
          .batch_first = field("batch_first")};
}

MultiheadAttention::MultiheadAttention(LayerArgs given)
    : TorchLayer(std::move(given)) {
  if (embed_dim <= 0 || num_heads <= 0)
    throw ValueError(
        "embed_dim and num_heads must be greater than 0, got embed_dim=" +
        std::to_string(embed_dim) +
        " and num_heads=" + std::to_string(num_heads) + " instead");
  if (embed_dim % num_heads != 0)
    throw ValueError("embed_dim must be divisible by num_heads");
  const int64_t kdim = options.kdim.value_or(embed_dim);
  const int64_t vdim = options.vdim.value_or(embed_dim);
  const bool same = kdim == embed_dim && vdim == embed_dim;
  using T = MultiheadAttention;
  const auto weight = [&](const char* name, Parameter T::* at, bool there,
                          int64_t out, int64_t in) {
    add(name, at,
        there ? Parameter(init::uniform({out, in}, xavier_bound(in, out)))
              : Parameter());
  };
  weight("q_proj_weight", &T::q_proj_weight, !same, embed_dim, embed_dim);
  weight("k_proj_weight", &T::k_proj_weight, !same, embed_dim, kdim);
  weight("v_proj_weight", &T::v_proj_weight, !same, embed_dim, vdim);
  weight("in_proj_weight", &T::in_proj_weight, same, 3 * embed_dim, embed_dim);
  add("in_proj_bias", &T::in_proj_bias,
      options.bias ? Parameter(Tensor::zeros({3 * embed_dim})) : Parameter());
  for (const auto& [name, at] :
       {std::pair("bias_k", &T::bias_k), std::pair("bias_v", &T::bias_v)}) {
    // As wide as torch's normal distribution.
    const double bound = xavier_bound(embed_dim, embed_dim);
    if (options.add_bias_kv)
      add(name, at, Parameter(init::uniform({1, 1, embed_dim}, bound)));
    else
      keep(name, at);
  }
  const auto out_proj = NonDynamicallyQuantizableLinear::create(
      embed_dim, embed_dim, options.bias);
  if (options.bias) out_proj->bias.set_tensor(Tensor::zeros({embed_dim}));
  register_module("out_proj", out_proj);
}

Value MultiheadAttention::projected(const Value& input, int part) const {
  const Value rows = Value::slice(part * embed_dim, (part + 1) * embed_dim);
  const Parameter* own[] = {&q_proj_weight, &k_proj_weight, &v_proj_weight};
  const Value weight = in_proj_weight.defined() ? getitem(in_proj_weight, rows)
                                                : Value(*own[part]);
  const Value bias =
      in_proj_bias.defined() ? getitem(in_proj_bias, rows) : Value();
  return functional::linear(input, weight, bias);
}

// [N, L, embed_dim] to [N, heads, L, depth].
Value MultiheadAttention::split(const Value& input) const {
  return transpose(method(input, "view",
                          {size(input, 0), size(input, 1), num_heads,
                           embed_dim / num_heads}),
                   1, 2);
}

// Keys or values [N, heads, S, depth] and those that the options add.
Value MultiheadAttention::with_more(const Value& heads,
                                    const Parameter& more) const {
  Value all = heads;
  if (options.add_bias_kv) {
    const int64_t depth = embed_dim / num_heads;
    const Value one = reshape(more, {1, num_heads, 1, depth});
    all = cat({all, expand(one, {size(heads, 0), num_heads, 1, depth})}, 2);
  }
  return options.add_zero_attn ? functional::pad(all, {0, 0, 0, 1}) : all;
}

Value MultiheadAttention::forward(Value query, Value key, Value value,
                                  Value key_padding_mask, Value need_weights,
                                  Value attn_mask, Value average_attn_weights,
                                  Value is_causal) {
  if (is_causal.as_bool() && attn_mask.is_none())
    throw RuntimeError("Need attn_mask if specifying the is_causal hint.");
  check_attention({query, key, value, key_padding_mask, attn_mask, num_heads,
                   options.batch_first});
  const bool batched = method(query, "dim", {}).as_int() == 3;
  const auto batch_first = [&](const Value& x) {
    if (!batched) return unsqueeze(x, 0);
    return options.batch_first ? x : transpose(x, 0, 1);
  };
  const Value q = split(projected(batch_first(query), 0));
  const Value own_k = split(projected(batch_first(key), 1));
  const Value own_v = split(projected(batch_first(value), 2));
  const Value k = with_more(own_k, bias_k), v = with_more(own_v, bias_v);
  const int64_t n = size(q, 0), queries = size(q, 2);
  // As torch: a mask said to be causal is not read then.
  const bool causal = is_causal.as_bool() && key_padding_mask.is_none() &&
                      !need_weights.as_bool();
  const Value mask =
      merged(causal ? None : attn_mask, key_padding_mask,
             {n, num_heads, queries, size(own_k, 2)}, size(k, 2));
  Value mixed, weights;
  if (need_weights.as_bool()) {
    const double depth = static_cast<double>(embed_dim / num_heads);
    Value scores = matmul(q * (1 / std::sqrt(depth)), transpose(k, -2, -1));
    if (!mask.is_none()) scores = scores + mask;
    weights = softmax(scores, -1);
    mixed = matmul(weights, v);
    if (average_attn_weights.as_bool()) weights = mean(weights, 1);
    if (!batched) weights = squeeze(weights, 0);
  } else {
    mixed =
        functional::scaled_dot_product_attention(q, k, v, mask, 0.0, causal);
  }
  Value output = reshape(transpose(mixed, 1, 2), {n, queries, embed_dim});
  output = get_submodule("out_proj").invoke({output}, {});
  output = !batched              ? squeeze(output, 0)
           : options.batch_first ? output
                                 : transpose(output, 0, 1);
  return Value::tuple({output, weights});
}

}  // namespace fxjit::nn
