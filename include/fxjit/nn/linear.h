// Layers around one weight matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// State of the layers that compute input [..., in] @ weight[out, in]^T + bias
// [out], f32.
class LinearBase : public LayerBase {
 public:
  LinearBase(const LayerClass& layer, LayerArgs given);
  Value forward(Value input);

  const int64_t in_features = field("in_features");
  const int64_t out_features = field("out_features");
  Parameter weight, bias;  // `bias` is undefined without one.
};

template <typename T, Text name>
class LinearLayer : public OwnLayer<T, name, "input", LinearBase> {
 public:
  using LinearLayer::TorchLayer::TorchLayer;
  LinearLayer(int64_t in_features, int64_t out_features, bool bias = true)
      : LinearLayer::TorchLayer(
            LayerArgs::of({in_features, out_features, bias})) {}
};

struct Linear : LinearLayer<Linear, "Linear"> {
  using LinearLayer::LinearLayer;
};

// Rows of weight [num_embeddings, embedding_dim] by int64 or int32 indices.
class Embedding : public OwnLayer<Embedding, "Embedding"> {
 public:
  explicit Embedding(LayerArgs given);
  // The row `padding_idx` starts as zeros.
  Embedding(int64_t num_embeddings, int64_t embedding_dim,
            std::optional<int64_t> padding_idx = std::nullopt)
      : Embedding(LayerArgs::of({num_embeddings, embedding_dim, padding_idx})) {
  }
  Value forward(Value input);

  const int64_t num_embeddings = field("num_embeddings", Shown::bare);
  const int64_t embedding_dim = field("embedding_dim", Shown::bare);
  const std::optional<int64_t> padding_idx =
      field("padding_idx", Shown::unless_none).or_none<int64_t>();
  Parameter weight;
};

using LinearLayers = LayerList<Linear, Embedding>;

}  // namespace fxjit::nn
