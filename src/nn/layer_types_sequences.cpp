// The rows of attention, recurrent layers, padding and pixels.
#include "src/nn/layer_rows.h"
#include "src/nn/layer_types.h"

namespace fxjit::nn {
namespace {

template <typename T>
ModuleType recurrent(const char* name) {
  using Options = RecurrentOptions;
  ModuleType type = layer_with_options<T>(
      name, field("input_size", &T::input_size),
      field("hidden_size", &T::hidden_size),
      field("num_layers", &Options::num_layers), field("bias", &Options::bias),
      field("batch_first", &Options::batch_first),
      field("dropout", &Options::dropout),
      field("bidirectional", &Options::bidirectional),
      field("nonlinearity", &Options::nonlinearity),
      field("proj_size", &Options::proj_size));
  type.handles = [](Module& module) {
    Handles handles;
    for (auto& [key, weight] : static_cast<T&>(module).weights)
      handles.emplace_back(key, &weight);
    return handles;
  };
  return type;
}

void add_attention(std::vector<ModuleType>& types) {
  using Output = NonDynamicallyQuantizableLinear;
  types.push_back(linear_layer<Output>("NonDynamicallyQuantizableLinear"));
  using T = MultiheadAttention;
  using Options = MultiheadOptions;
  ModuleType type = layer_with_options<T>(
      "MultiheadAttention", field("embed_dim", &T::embed_dim),
      field("num_heads", &T::num_heads), field("dropout", &Options::dropout),
      field("bias", &Options::bias),
      field("add_bias_kv", &Options::add_bias_kv),
      field("add_zero_attn", &Options::add_zero_attn),
      field("kdim", &Options::kdim), field("vdim", &Options::vdim),
      field("batch_first", &Options::batch_first));
  types.push_back(with_state<T>(
      std::move(type), std::pair("in_proj_weight", &T::in_proj_weight),
      std::pair("q_proj_weight", &T::q_proj_weight),
      std::pair("k_proj_weight", &T::k_proj_weight),
      std::pair("v_proj_weight", &T::v_proj_weight),
      std::pair("in_proj_bias", &T::in_proj_bias),
      std::pair("bias_k", &T::bias_k), std::pair("bias_v", &T::bias_v)));
}

template <typename T>
ModuleType padding(const char* name) {
  return layer<T>(name, field("padding", &T::padding));
}

}  // namespace

void add_sequence_types(std::vector<ModuleType>& types) {
  types.push_back(recurrent<RNN>("RNN"));
  types.push_back(recurrent<LSTM>("LSTM"));
  types.push_back(recurrent<GRU>("GRU"));
  add_attention(types);
  types.push_back(padding<ZeroPad1d>("ZeroPad1d"));
  types.push_back(padding<ZeroPad2d>("ZeroPad2d"));
  types.push_back(padding<ReflectionPad1d>("ReflectionPad1d"));
  types.push_back(padding<ReflectionPad2d>("ReflectionPad2d"));
  types.push_back(padding<ReplicationPad1d>("ReplicationPad1d"));
  types.push_back(padding<ReplicationPad2d>("ReplicationPad2d"));
  types.push_back(layer<PixelShuffle>(
      "PixelShuffle", field("upscale_factor", &PixelShuffle::upscale_factor)));
  types.push_back(layer<PixelUnshuffle>(
      "PixelUnshuffle",
      field("downscale_factor", &PixelUnshuffle::downscale_factor)));
  types.push_back(
      layer<PReLU>("PReLU", field("num_parameters", &PReLU::num_parameters),
                   field("init", &PReLU::init)));
}

}  // namespace fxjit::nn
