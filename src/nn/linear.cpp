#include "fxjit/nn/linear.h"

#include <algorithm>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "fxjit/nn/init.h"

namespace fxjit::nn {

LinearBase::LinearBase(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)) {
  const bool with_bias = presence("bias", "bias");
  const double bound =
      1 / std::sqrt(static_cast<double>(std::max<int64_t>(in_features, 1)));
  add("weight", &LinearBase::weight,
      Parameter(init::uniform({out_features, in_features}, bound)));
  add("bias", &LinearBase::bias,
      with_bias ? Parameter(init::uniform({out_features}, bound))
                : Parameter());
}

Value LinearBase::forward(Value input) {
  return functional::linear(input, weight, bias);
}

Embedding::Embedding(LayerArgs given) : TorchLayer(std::move(given)) {
  const Tensor rows = init::normal({num_embeddings, embedding_dim});
  if (padding_idx && !rows.is_meta()) {
    const int row = wrap_dim(*padding_idx, static_cast<int>(num_embeddings));
    std::fill_n(rows.data_as<float>() + row * embedding_dim, embedding_dim,
                0.0f);
  }
  add("weight", &Embedding::weight, Parameter(rows));
}

Value Embedding::forward(Value input) {
  return functional::embedding(input, weight, Value(padding_idx));
}

}  // namespace fxjit::nn
