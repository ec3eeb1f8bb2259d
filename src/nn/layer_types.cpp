// One row per layer: what its constructor was given, and how to call it again.
#include "src/nn/layer_types.h"

#include "src/nn/layer_rows.h"

namespace fxjit::nn {
namespace {

void add_activations(std::vector<ModuleType>& types) {
  types.push_back(layer<Identity>("Identity"));
  types.push_back(layer<ReLU>("ReLU"));
  types.push_back(layer<ReLU6>("ReLU6"));
  types.push_back(layer<SiLU>("SiLU"));
  types.push_back(layer<Tanh>("Tanh"));
  types.push_back(layer<Sigmoid>("Sigmoid"));
  types.push_back(layer<Hardswish>("Hardswish"));
  types.push_back(layer<Hardsigmoid>("Hardsigmoid"));
  types.push_back(layer<Mish>("Mish"));
  types.push_back(
      layer<GELU>("GELU", field("approximate", &GELU::approximate)));
  types.push_back(layer<LeakyReLU>(
      "LeakyReLU", field("negative_slope", &LeakyReLU::negative_slope)));
  types.push_back(layer<ELU>("ELU", field("alpha", &ELU::alpha)));
  types.push_back(layer<Softmax>("Softmax", field("dim", &Softmax::dim)));
  types.push_back(
      layer<LogSoftmax>("LogSoftmax", field("dim", &LogSoftmax::dim)));
  types.push_back(layer<GLU>("GLU", field("dim", &GLU::dim)));
  types.push_back(layer<Softplus>("Softplus", field("beta", &Softplus::beta),
                                  field("threshold", &Softplus::threshold)));
  types.push_back(layer<Hardtanh>("Hardtanh",
                                  field("min_val", &Hardtanh::min_val),
                                  field("max_val", &Hardtanh::max_val)));
  types.push_back(layer<Dropout>("Dropout", field("p", &Dropout::p)));
}

void add_weights(std::vector<ModuleType>& types) {
  types.push_back(linear_layer<Linear>("Linear"));
  types.push_back(layer<Embedding>(
      "Embedding", field("num_embeddings", &Embedding::num_embeddings),
      field("embedding_dim", &Embedding::embedding_dim),
      field("padding_idx", &Embedding::padding_idx)));
  types.push_back(convolution<Conv1d>("Conv1d"));
  types.push_back(convolution<Conv2d>("Conv2d"));
  types.push_back(convolution<Conv3d>("Conv3d"));
  types.push_back(convolution<ConvTranspose1d>("ConvTranspose1d"));
  types.push_back(convolution<ConvTranspose2d>("ConvTranspose2d"));
  types.push_back(convolution<ConvTranspose3d>("ConvTranspose3d"));
}

void add_norms(std::vector<ModuleType>& types) {
  types.push_back(layer<LayerNorm>(
      "LayerNorm", field("normalized_shape", &LayerNorm::normalized_shape),
      field("eps", &LayerNorm::eps),
      has("elementwise_affine", &LayerNorm::weight),
      has("bias", &LayerNorm::bias)));
  types.push_back(layer<RMSNorm>(
      "RMSNorm", field("normalized_shape", &RMSNorm::normalized_shape),
      field("eps", &RMSNorm::eps),
      has("elementwise_affine", &RMSNorm::weight)));
  types.push_back(layer<GroupNorm>(
      "GroupNorm", field("num_groups", &GroupNorm::num_groups),
      field("num_channels", &GroupNorm::num_channels),
      field("eps", &GroupNorm::eps), has("affine", &GroupNorm::weight)));
  types.push_back(running_norm<BatchNorm1d>("BatchNorm1d"));
  types.push_back(running_norm<BatchNorm2d>("BatchNorm2d"));
  types.push_back(running_norm<BatchNorm3d>("BatchNorm3d"));
}

void add_pooling(std::vector<ModuleType>& types) {
  types.push_back(max_pool<MaxPool1d>("MaxPool1d"));
  types.push_back(max_pool<MaxPool2d>("MaxPool2d"));
  types.push_back(max_pool<MaxPool3d>("MaxPool3d"));
  types.push_back(avg_pool<AvgPool1d>("AvgPool1d"));
  types.push_back(avg_pool<AvgPool2d>(
      "AvgPool2d", field("divisor_override", &AvgPool2d::divisor_override)));
  types.push_back(avg_pool<AvgPool3d>(
      "AvgPool3d", field("divisor_override", &AvgPool3d::divisor_override)));
  types.push_back(adaptive_pool<AdaptiveAvgPool1d>("AdaptiveAvgPool1d"));
  types.push_back(adaptive_pool<AdaptiveAvgPool2d>("AdaptiveAvgPool2d"));
  types.push_back(adaptive_pool<AdaptiveAvgPool3d>("AdaptiveAvgPool3d"));
  types.push_back(adaptive_pool<AdaptiveMaxPool2d>("AdaptiveMaxPool2d"));
}

void add_shaping(std::vector<ModuleType>& types) {
  types.push_back(layer<Flatten>("Flatten",
                                 field("start_dim", &Flatten::start_dim),
                                 field("end_dim", &Flatten::end_dim)));
  types.push_back(layer<Unflatten>(
      "Unflatten", field("dim", &Unflatten::dim),
      field("unflattened_size", &Unflatten::unflattened_size)));
  types.push_back(
      layer<Upsample>("Upsample", field("size", &Upsample::size),
                      field("scale_factor", &Upsample::scale_factor),
                      field("mode", &Upsample::mode),
                      field("align_corners", &Upsample::align_corners)));
}

}  // namespace

std::vector<ModuleType> layer_types() {
  std::vector<ModuleType> types;
  types.push_back(module_type<Module>(
      "Module", [](const Module&) -> Kwargs { return {}; },
      [](Args&) { return ModuleRef(std::make_shared<Module>()); }));
  types.push_back(layer<Sequential>("Sequential"));
  types.push_back(layer<ModuleList>("ModuleList"));
  types.push_back(layer<ModuleDict>("ModuleDict"));
  add_activations(types);
  add_weights(types);
  add_sequence_types(types);
  add_more_types(types);
  add_norms(types);
  add_pooling(types);
  add_shaping(types);
  add_loss_types(types);
  for (ModuleType& type : types) type.transparent = true;
  return types;
}

}  // namespace fxjit::nn
