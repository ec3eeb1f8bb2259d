// Single steps of the recurrent layers: RNNCell, LSTMCell and GRUCell. Input
// [N, input_size] or [input_size]; a state of none is zeros.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Weights and printed form. Two biases, as torch has them, or none.
class CellBase : public LayerBase {
 public:
  CellBase(const LayerClass& layer, LayerArgs given);
  std::string extra_repr() const override;

  const int64_t input_size = field("input_size");
  const int64_t hidden_size = field("hidden_size");
  Parameter weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  // The new state or states, by torch's function of this name.
  Value run(const char* function_name, const Value& input,
            const Value& hx) const;
  Value zeros_like_state(const Value& input) const;
};

template <typename T, Text name>
using CellLayer = OwnLayer<T, name, "input hx=None", CellBase>;

// `nonlinearity`: "tanh" or "relu". Gives the new state.
class RNNCell : public CellLayer<RNNCell, "RNNCell"> {
 public:
  explicit RNNCell(LayerArgs given);
  RNNCell(int64_t input_size, int64_t hidden_size, bool bias = true,
          std::string nonlinearity = "tanh")
      : RNNCell(LayerArgs::of({input_size, hidden_size, bias, nonlinearity})) {}
  Value forward(Value input, Value hx);
  std::string extra_repr() const override;
  const std::string nonlinearity = field("nonlinearity");
};

// Takes and gives the tuple (h, c).
struct LSTMCell : CellLayer<LSTMCell, "LSTMCell"> {
  using TorchLayer::TorchLayer;
  LSTMCell(int64_t input_size, int64_t hidden_size, bool bias = true)
      : TorchLayer(LayerArgs::of({input_size, hidden_size, bias})) {}
  Value forward(Value input, Value hx);
};

struct GRUCell : CellLayer<GRUCell, "GRUCell"> {
  using TorchLayer::TorchLayer;
  GRUCell(int64_t input_size, int64_t hidden_size, bool bias = true)
      : TorchLayer(LayerArgs::of({input_size, hidden_size, bias})) {}
  Value forward(Value input, Value hx);
};

using CellLayers = LayerList<RNNCell, LSTMCell, GRUCell>;

}  // namespace fxjit::nn
