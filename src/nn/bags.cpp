#include "fxjit/nn/bags.h"

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"

namespace fxjit::nn {

EmbeddingBag::EmbeddingBag(LayerArgs given) : TorchLayer(std::move(given)) {
  add("weight", &EmbeddingBag::weight,
      Parameter(init::normal({num_embeddings, embedding_dim})));
}

Value EmbeddingBag::forward(Value input, Value offsets,
                            Value per_sample_weights) {
  return function("torch.nn.functional.embedding_bag", {input, weight, offsets},
                  {{"mode", mode},
                   {"per_sample_weights", per_sample_weights},
                   {"include_last_offset", include_last_offset},
                   {"padding_idx", Value(padding_idx)}});
}

Bilinear::Bilinear(LayerArgs given) : TorchLayer(std::move(given)) {
  const bool with_bias = presence("bias", "bias");
  if (in1_features <= 0)
    throw ValueError("in1_features must be > 0, but got " +
                     std::to_string(in1_features));
  const double bound = 1 / std::sqrt(static_cast<double>(in1_features));
  add("weight", &Bilinear::weight,
      Parameter(
          init::uniform({out_features, in1_features, in2_features}, bound)));
  add("bias", &Bilinear::bias,
      with_bias ? Parameter(init::uniform({out_features}, bound))
                : Parameter());
}

Value Bilinear::forward(Value input1, Value input2) {
  return function("torch.bilinear", {input1, input2, weight, bias});
}

}  // namespace fxjit::nn
