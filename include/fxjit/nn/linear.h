// Layers around one weight matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// State of the layers that compute input [..., in] @ weight[out, in]^T + bias
// [out], f32.
class LinearBase : public LeafModule {
 public:
  LinearBase(std::string type_name, int64_t in_features, int64_t out_features,
             bool bias);
  Value forward(Value input);
  std::string extra_repr() const override;

  const int64_t in_features, out_features;
  Parameter weight, bias;  // `bias` is undefined without one.
};

class Linear : public Custom<Linear, LinearBase> {
 public:
  Linear(int64_t in_features, int64_t out_features, bool bias = true);
};

// Rows of weight [num_embeddings, embedding_dim] by int64 or int32 indices.
class Embedding : public Layer<Embedding> {
 public:
  // The row `padding_idx` starts as zeros.
  Embedding(int64_t num_embeddings, int64_t embedding_dim,
            std::optional<int64_t> padding_idx = std::nullopt);
  Value forward(Value input);
  std::string extra_repr() const override;

  const int64_t num_embeddings, embedding_dim;
  const std::optional<int64_t> padding_idx;
  Parameter weight;
};

}  // namespace fxjit::nn
