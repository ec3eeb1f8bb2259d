#include "fxjit/nn/linear.h"

#include <algorithm>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "fxjit/nn/init.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

LinearBase::LinearBase(std::string type_name, int64_t in_features,
                       int64_t out_features, bool with_bias)
    : LeafModule(std::move(type_name), {"input"}),
      in_features(in_features),
      out_features(out_features) {
  const double bound =
      1 / std::sqrt(static_cast<double>(std::max<int64_t>(in_features, 1)));
  weight = register_parameter(
      "weight", init::uniform({out_features, in_features}, bound));
  bias = register_parameter(
      "bias", with_bias ? Parameter(init::uniform({out_features}, bound))
                        : Parameter());
}

Value LinearBase::forward(Value input) {
  return functional::linear(input, weight, bias);
}

std::string LinearBase::extra_repr() const {
  return "in_features=" + std::to_string(in_features) +
         ", out_features=" + std::to_string(out_features) +
         ", bias=" + py(bias.defined());
}

Linear::Linear(int64_t in_features, int64_t out_features, bool with_bias)
    : Custom("Linear", in_features, out_features, with_bias) {}

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim,
                     std::optional<int64_t> padding_idx)
    : Custom("Embedding", {"input"}),
      num_embeddings(num_embeddings),
      embedding_dim(embedding_dim),
      padding_idx(padding_idx) {
  const Tensor rows = init::normal({num_embeddings, embedding_dim});
  if (padding_idx && !rows.is_meta()) {
    const int row = wrap_dim(*padding_idx, static_cast<int>(num_embeddings));
    std::fill_n(rows.data_as<float>() + row * embedding_dim, embedding_dim,
                0.0f);
  }
  weight = register_parameter("weight", rows);
}

Value Embedding::forward(Value input) {
  return functional::embedding(input, weight, Value(padding_idx));
}

std::string Embedding::extra_repr() const {
  std::string text =
      std::to_string(num_embeddings) + ", " + std::to_string(embedding_dim);
  if (padding_idx) text += ", padding_idx=" + std::to_string(*padding_idx);
  return text;
}

}  // namespace fxjit::nn
