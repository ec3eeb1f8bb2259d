// Attention with its projections, as torch.nn.MultiheadAttention.
#pragma once

#include <cstdint>
#include <optional>

#include "fxjit/nn/linear.h"

namespace fxjit::nn {

// nn.Linear under the name that torch prints for output projections.
struct NonDynamicallyQuantizableLinear
    : LinearLayer<NonDynamicallyQuantizableLinear,
                  "NonDynamicallyQuantizableLinear"> {
  using LinearLayer::LinearLayer;
};

// torch's keyword arguments and defaults.
struct MultiheadOptions {
  // Kept as torch keeps it; `forward` drops nothing, in training neither.
  double dropout = 0;
  bool bias = true;
  bool add_bias_kv = false;    // Adds a key and a value that are parameters.
  bool add_zero_attn = false;  // Adds a key and a value of zeros.
  // The width of keys and of values: embed_dim where it is missing.
  std::optional<int64_t> kdim = std::nullopt;
  std::optional<int64_t> vdim = std::nullopt;
  bool batch_first = false;
};

// Projects queries, keys and values to `num_heads` heads, attends and projects
// the heads joined. query [L, N, embed_dim], key [S, N, kdim], value [S, N,
// vdim], with N in front if `batch_first`, or without it. Returns (output,
// weights): weights [N, L, S], averaged over the heads, [N, heads, L, S] unless
// `average_attn_weights`, none unless `need_weights` (which is faster without).
// Masks are bool, true where a key is hidden, or f32 and added to the scores:
// key_padding_mask [N, S], attn_mask [L, S] or [N * heads, L, S]. `is_causal`
// says that attn_mask is causal, and stands in its place unless weights or
// padded keys need it. Keys of `add_bias_kv` and `add_zero_attn` follow the
// others, S + 1 or S + 2 in all, and no mask hides them. ValueError for heads
// that do not divide embed_dim. The last projection is the submodule
// `out_proj`.
class MultiheadAttention
    : public OwnLayer<MultiheadAttention, "MultiheadAttention",
                      "query key value key_padding_mask=None need_weights=True "
                      "attn_mask=None average_attn_weights=True "
                      "is_causal=False"> {
 public:
  explicit MultiheadAttention(LayerArgs given);
  MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                     MultiheadOptions options = {});
  Value forward(Value query, Value key, Value value, Value key_padding_mask,
                Value need_weights, Value attn_mask, Value average_attn_weights,
                Value is_causal);
  std::string extra_repr() const override { return {}; }

  const int64_t embed_dim = field("embed_dim"), num_heads = field("num_heads");
  const MultiheadOptions options = read_options();
  // in_proj_weight is [3 * embed_dim, embed_dim]. Where keys or values have a
  // width of their own it is undefined, and the other three hold the weights.
  Parameter in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight;
  Parameter in_proj_bias;
  Parameter bias_k, bias_v;  // [1, 1, embed_dim] if `add_bias_kv`.

 private:
  MultiheadOptions read_options();
  Value projected(const Value& input, int part) const;
  Value split(const Value& input) const;
  Value with_more(const Value& heads, const Parameter& more) const;
};

using AttentionLayers =
    LayerList<NonDynamicallyQuantizableLinear, MultiheadAttention>;

}  // namespace fxjit::nn
