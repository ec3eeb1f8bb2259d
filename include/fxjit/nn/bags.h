// EmbeddingBag and Bilinear: layers of tables and of two inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Reduces rows of weight bag by bag: a bag is a row of 2-D indices, or runs
// from one of `offsets` to the next. `mode`: "sum", "mean" or "max".
class EmbeddingBag
    : public OwnLayer<EmbeddingBag, "EmbeddingBag",
                      "input offsets=None per_sample_weights=None"> {
 public:
  explicit EmbeddingBag(LayerArgs given);
  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim,
               std::string mode = "mean", bool include_last_offset = false,
               std::optional<int64_t> padding_idx = std::nullopt)
      : EmbeddingBag(LayerArgs::of({num_embeddings, embedding_dim, mode,
                                    include_last_offset, padding_idx})) {}
  Value forward(Value input, Value offsets, Value per_sample_weights);

  const int64_t num_embeddings = field("num_embeddings", Shown::bare);
  const int64_t embedding_dim = field("embedding_dim", Shown::bare);
  const std::string mode = field("mode");
  const bool include_last_offset = field("include_last_offset", Shown::hidden);
  const std::optional<int64_t> padding_idx =
      field("padding_idx", Shown::unless_none).or_none<int64_t>();
  Parameter weight;
};

// sum_ij x1_i weight_kij x2_j + bias_k.
class Bilinear : public OwnLayer<Bilinear, "Bilinear", "input1 input2"> {
 public:
  explicit Bilinear(LayerArgs given);
  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features,
           bool bias = true)
      : Bilinear(
            LayerArgs::of({in1_features, in2_features, out_features, bias})) {}
  Value forward(Value input1, Value input2);

  const int64_t in1_features = field("in1_features");
  const int64_t in2_features = field("in2_features");
  const int64_t out_features = field("out_features");
  Parameter weight, bias;
};

using BagLayers = LayerList<EmbeddingBag, Bilinear>;

}  // namespace fxjit::nn
