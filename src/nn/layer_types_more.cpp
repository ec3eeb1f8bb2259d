// The rows of the layers that models use less often: cells, transformer layers,
// instance norms, bags, and layers of one function.
#include "src/nn/layer_rows.h"
#include "src/nn/layer_types.h"

namespace fxjit::nn {
namespace {

template <typename T, typename... Fields>
ModuleType cell(const char* name, Fields... more) {
  return with_state<T>(layer<T>(name, field("input_size", &T::input_size),
                                field("hidden_size", &T::hidden_size),
                                has("bias", &T::bias_ih), more...),
                       std::pair("weight_ih", &T::weight_ih),
                       std::pair("weight_hh", &T::weight_hh),
                       std::pair("bias_ih", &T::bias_ih),
                       std::pair("bias_hh", &T::bias_hh));
}

template <typename T>
ModuleType transformer_layer(const char* name) {
  using Options = TransformerOptions;
  return layer_with_options<T>(
      name, field("d_model", &T::d_model), field("nhead", &T::nhead),
      field("dim_feedforward", &Options::dim_feedforward),
      field("dropout", &Options::dropout),
      field("activation", &Options::activation),
      field("layer_norm_eps", &Options::layer_norm_eps),
      field("batch_first", &Options::batch_first),
      field("norm_first", &Options::norm_first), field("bias", &Options::bias));
}

void add_functions(std::vector<ModuleType>& types) {
  types.push_back(layer<LogSigmoid>("LogSigmoid"));
  types.push_back(layer<Softsign>("Softsign"));
  types.push_back(layer<Tanhshrink>("Tanhshrink"));
  types.push_back(layer<SELU>("SELU"));
  types.push_back(layer<CELU>("CELU", field("alpha", &CELU::alpha)));
  types.push_back(
      layer<Hardshrink>("Hardshrink", field("lambd", &Hardshrink::lambd)));
  types.push_back(
      layer<Softshrink>("Softshrink", field("lambd", &Softshrink::lambd)));
  types.push_back(layer<Threshold>("Threshold",
                                   field("threshold", &Threshold::threshold),
                                   field("value", &Threshold::value)));
  types.push_back(layer<Softmin>("Softmin", field("dim", &Softmin::dim)));
  types.push_back(layer<ChannelShuffle>(
      "ChannelShuffle", field("groups", &ChannelShuffle::groups)));
  types.push_back(layer<LocalResponseNorm>(
      "LocalResponseNorm", field("size", &LocalResponseNorm::size),
      field("alpha", &LocalResponseNorm::alpha),
      field("beta", &LocalResponseNorm::beta),
      field("k", &LocalResponseNorm::k)));
  types.push_back(layer<CosineSimilarity>(
      "CosineSimilarity", field("dim", &CosineSimilarity::dim),
      field("eps", &CosineSimilarity::eps)));
  types.push_back(layer<PairwiseDistance>(
      "PairwiseDistance", field("p", &PairwiseDistance::p),
      field("eps", &PairwiseDistance::eps),
      field("keepdim", &PairwiseDistance::keepdim)));
}

void add_windows(std::vector<ModuleType>& types) {
  types.push_back(layer<Unfold>(
      "Unfold", field("kernel_size", &Unfold::kernel_size),
      field("dilation", &Unfold::dilation), field("padding", &Unfold::padding),
      field("stride", &Unfold::stride)));
  types.push_back(layer<Fold>("Fold", field("output_size", &Fold::output_size),
                              field("kernel_size", &Fold::kernel_size),
                              field("dilation", &Fold::dilation),
                              field("padding", &Fold::padding),
                              field("stride", &Fold::stride)));
}

}  // namespace

void add_more_types(std::vector<ModuleType>& types) {
  types.push_back(
      cell<RNNCell>("RNNCell", field("nonlinearity", &RNNCell::nonlinearity)));
  types.push_back(cell<LSTMCell>("LSTMCell"));
  types.push_back(cell<GRUCell>("GRUCell"));
  types.push_back(
      transformer_layer<TransformerEncoderLayer>("TransformerEncoderLayer"));
  types.push_back(
      transformer_layer<TransformerDecoderLayer>("TransformerDecoderLayer"));
  // Their layers are children, which have rows of their own.
  types.push_back(layer<TransformerEncoder>("TransformerEncoder"));
  types.push_back(layer<TransformerDecoder>("TransformerDecoder"));
  types.push_back(running_norm<InstanceNorm1d>("InstanceNorm1d"));
  types.push_back(running_norm<InstanceNorm2d>("InstanceNorm2d"));
  types.push_back(layer<EmbeddingBag>(
      "EmbeddingBag", field("num_embeddings", &EmbeddingBag::num_embeddings),
      field("embedding_dim", &EmbeddingBag::embedding_dim),
      field("mode", &EmbeddingBag::mode),
      field("include_last_offset", &EmbeddingBag::include_last_offset),
      field("padding_idx", &EmbeddingBag::padding_idx)));
  types.push_back(layer<Bilinear>(
      "Bilinear", field("in1_features", &Bilinear::in1_features),
      field("in2_features", &Bilinear::in2_features),
      field("out_features", &Bilinear::out_features),
      has("bias", &Bilinear::bias)));
  add_functions(types);
  add_windows(types);
}

}  // namespace fxjit::nn
