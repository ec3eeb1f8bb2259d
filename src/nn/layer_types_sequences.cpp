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
  types.push_back(with_state<Output>(
      "NonDynamicallyQuantizableLinear",
      [](const Output& m) -> Kwargs {
        return {{"in_features", m.in_features},
                {"out_features", m.out_features},
                {"bias", m.bias.defined()}};
      },
      [](Args& a) {
        const int64_t in = a.integer("in_features");
        const int64_t out = a.integer("out_features");
        return Output::create(in, out, a.boolean("bias"));
      },
      weight_of<Output>(), bias_of<Output>()));
  using T = MultiheadAttention;
  types.push_back(with_state<T>(
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
        const auto width = [&](const char* name) -> std::optional<int64_t> {
          const Value given = a.value(name);
          if (given.is_none()) return std::nullopt;
          return given.as_int();
        };
        const int64_t embed_dim = a.integer("embed_dim");
        const int64_t num_heads = a.integer("num_heads");
        MultiheadOptions options;
        options.dropout = a.floating("dropout");
        options.bias = a.boolean("bias");
        options.kdim = width("kdim");
        options.vdim = width("vdim");
        options.batch_first = a.boolean("batch_first");
        return T::create(embed_dim, num_heads, options);
      },
      std::pair("in_proj_weight", &T::in_proj_weight),
      std::pair("q_proj_weight", &T::q_proj_weight),
      std::pair("k_proj_weight", &T::k_proj_weight),
      std::pair("v_proj_weight", &T::v_proj_weight),
      std::pair("in_proj_bias", &T::in_proj_bias)));
}

template <typename T>
ModuleType padding(const char* name) {
  return module_type<T>(
      name, [](const T& m) -> Kwargs { return {{"padding", m.padding}}; },
      [](Args& a) { return T::create(a.value("padding")); });
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
  types.push_back(module_type<PixelShuffle>(
      "PixelShuffle",
      [](const PixelShuffle& m) -> Kwargs {
        return {{"upscale_factor", m.upscale_factor}};
      },
      [](Args& a) {
        return PixelShuffle::create(a.integer("upscale_factor"));
      }));
  types.push_back(module_type<PixelUnshuffle>(
      "PixelUnshuffle",
      [](const PixelUnshuffle& m) -> Kwargs {
        return {{"downscale_factor", m.downscale_factor}};
      },
      [](Args& a) {
        return PixelUnshuffle::create(a.integer("downscale_factor"));
      }));
  types.push_back(with_state<PReLU>(
      "PReLU",
      [](const PReLU& m) -> Kwargs {
        return {{"num_parameters", m.num_parameters}, {"init", m.init}};
      },
      [](Args& a) {
        const int64_t count = a.integer("num_parameters");
        return PReLU::create(count, a.floating("init"));
      },
      weight_of<PReLU>()));
}

}  // namespace fxjit::nn
