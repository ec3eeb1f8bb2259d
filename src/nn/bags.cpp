#include "fxjit/nn/bags.h"

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

EmbeddingBag::EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim,
                           std::string mode, bool include_last_offset,
                           std::optional<int64_t> padding_idx)
    : Custom("EmbeddingBag",
             {"input", {"offsets", None}, {"per_sample_weights", None}}),
      num_embeddings(num_embeddings),
      embedding_dim(embedding_dim),
      mode(std::move(mode)),
      include_last_offset(include_last_offset),
      padding_idx(padding_idx) {
  weight = register_parameter("weight",
                              init::normal({num_embeddings, embedding_dim}));
}

Value EmbeddingBag::forward(Value input, Value offsets,
                            Value per_sample_weights) {
  return function("torch.nn.functional.embedding_bag", {input, weight, offsets},
                  {{"mode", mode},
                   {"per_sample_weights", per_sample_weights},
                   {"include_last_offset", include_last_offset},
                   {"padding_idx", Value(padding_idx)}});
}

std::string EmbeddingBag::extra_repr() const {
  std::string text =
      py(num_embeddings) + ", " + py(embedding_dim) + ", mode=" + py(mode);
  if (padding_idx) text += ", padding_idx=" + py(*padding_idx);
  return text;
}

Bilinear::Bilinear(int64_t in1_features, int64_t in2_features,
                   int64_t out_features, bool with_bias)
    : Custom("Bilinear", {"input1", "input2"}),
      in1_features(in1_features),
      in2_features(in2_features),
      out_features(out_features) {
  if (in1_features <= 0)
    throw ValueError("in1_features must be > 0, but got " + py(in1_features));
  const double bound = 1 / std::sqrt(static_cast<double>(in1_features));
  weight = register_parameter(
      "weight",
      init::uniform({out_features, in1_features, in2_features}, bound));
  bias = register_parameter(
      "bias", with_bias ? Parameter(init::uniform({out_features}, bound))
                        : Parameter());
}

Value Bilinear::forward(Value input1, Value input2) {
  return function("torch.bilinear", {input1, input2, weight, bias});
}

std::string Bilinear::extra_repr() const {
  return "in1_features=" + py(in1_features) +
         ", in2_features=" + py(in2_features) +
         ", out_features=" + py(out_features) + ", bias=" + py(bias.defined());
}

}  // namespace fxjit::nn
