// EmbeddingBag and Bilinear: layers of tables and of two inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Reduces rows of weight bag by bag: a bag is a row of 2-D indices, or runs
// from one of `offsets` to the next. `mode`: "sum", "mean" or "max".
class EmbeddingBag : public Layer<EmbeddingBag> {
 public:
  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim,
               std::string mode = "mean", bool include_last_offset = false,
               std::optional<int64_t> padding_idx = std::nullopt);
  Value forward(Value input, Value offsets, Value per_sample_weights);
  std::string extra_repr() const override;

  const int64_t num_embeddings, embedding_dim;
  const std::string mode;
  const bool include_last_offset;
  const std::optional<int64_t> padding_idx;
  Parameter weight;
};

// sum_ij x1_i weight_kij x2_j + bias_k.
class Bilinear : public Layer<Bilinear> {
 public:
  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features,
           bool bias = true);
  Value forward(Value input1, Value input2);
  std::string extra_repr() const override;

  const int64_t in1_features, in2_features, out_features;
  Parameter weight, bias;
};

}  // namespace fxjit::nn
