// The rows of attention, recurrent layers, padding and pixels.
#include "src/nn/layer_rows.h"
#include "src/nn/layer_types.h"

namespace fxjit::nn {
namespace {

template <typename T>
ModuleType recurrent(const char* name) {
  ModuleType type = module_type<T>(
      name,
      [](const T& m) -> Kwargs {
        return {{"input_size", m.input_size},
                {"hidden_size", m.hidden_size},
                {"num_layers", m.options.num_layers},
                {"bias", m.options.bias},
                {"batch_first", m.options.batch_first},
                {"dropout", m.options.dropout},
                {"bidirectional", m.options.bidirectional},
                {"nonlinearity", m.options.nonlinearity}};
      },
      [](Args& a) {
        const int64_t input = a.integer("input_size");
        const int64_t hidden = a.integer("hidden_size");
        RecurrentOptions options;
        options.num_layers = a.integer("num_layers");
        options.bias = a.boolean("bias");
        options.batch_first = a.boolean("batch_first");
        options.dropout = a.floating("dropout");
        options.bidirectional = a.boolean("bidirectional");
        options.nonlinearity = a.string("nonlinearity");
        return T::create(input, hidden, options);
      });
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
  ModuleType type = module_type<T>(
      "MultiheadAttention",
      [](const T& m) -> Kwargs {
        return {{"embed_dim", m.embed_dim},
                {"num_heads", m.num_heads},
                {"dropout", m.options.dropout},
                {"bias", m.options.bias},
                {"kdim", Value(m.options.kdim)},
                {"vdim", Value(m.options.vdim)},
                {"batch_first", m.options.batch_first}};
      },
      [](Args& a) {
        const int64_t embed_dim = a.integer("embed_dim");
        const int64_t num_heads = a.integer("num_heads");
        MultiheadOptions options;
        options.dropout = a.floating("dropout");
        options.bias = a.boolean("bias");
        options.kdim = integer_or_none(a, "kdim");
        options.vdim = integer_or_none(a, "vdim");
        options.batch_first = a.boolean("batch_first");
        return T::create(embed_dim, num_heads, options);
      });
  types.push_back(with_state<T>(std::move(type),
                                std::pair("in_proj_weight", &T::in_proj_weight),
                                std::pair("q_proj_weight", &T::q_proj_weight),
                                std::pair("k_proj_weight", &T::k_proj_weight),
                                std::pair("v_proj_weight", &T::v_proj_weight),
                                std::pair("in_proj_bias", &T::in_proj_bias)));
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
  types.push_back(with_state<PReLU>(
      layer<PReLU>("PReLU", field("num_parameters", &PReLU::num_parameters),
                   field("init", &PReLU::init)),
      weight_of<PReLU>()));
}

}  // namespace fxjit::nn
