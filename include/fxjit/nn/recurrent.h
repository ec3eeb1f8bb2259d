// Recurrent layers: RNN, LSTM and GRU of several layers, one or both
// directions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// torch's keyword arguments and defaults.
struct RecurrentOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;  // The probability, between layers, in training only.
  bool bidirectional = false;
  std::string nonlinearity = "tanh";  // Or "relu". RNN alone reads it.
  // The width of output and hidden state of an LSTM that projects them; 0: it
  // does not, and hidden_size is their width.
  int64_t proj_size = 0;
};

// input [L, N, input_size], [N, L, input_size] if batch_first, or [L,
// input_size]. Parameters are named as torch's: weight_ih_l0, weight_hh_l0,
// bias_ih_l0, bias_hh_l0, weight_hr_l0 of a projection, with "_reverse" for the
// other direction.
class RecurrentBase : public LayerBase {
 public:
  RecurrentBase(const LayerClass& layer, LayerArgs given);
  std::string extra_repr() const override;
  std::vector<std::pair<std::string, Parameter*>> handles() override;

  const int64_t gates;
  const int64_t input_size = field("input_size");
  const int64_t hidden_size = field("hidden_size");
  const RecurrentOptions options = read_options();
  // In torch's order, layer by layer, direction by direction.
  std::vector<std::pair<std::string, Parameter>> weights;

 protected:
  // A tuple of the output and the final states, each [layers * directions, N,
  // width], by torch's function of this name. A state that is None is zeros.
  // RuntimeError for inputs and states of other sizes.
  Value run(const char* function_name, Value input, ValueList states);

 private:
  RecurrentOptions read_options();
  void check_options() const;
  void add_weights(int64_t layer, const std::string& suffix);
  void check(const Value& input, const ValueList& states) const;
  int64_t width_of(size_t state) const;
};

// forward(input, hx=None).
template <typename T, Text name>
class RecurrentLayer
    : public OwnLayer<T, name, "input hx=None", RecurrentBase> {
 public:
  using RecurrentLayer::TorchLayer::TorchLayer;
  RecurrentLayer(int64_t input_size, int64_t hidden_size,
                 const RecurrentOptions& options = {})
      : RecurrentLayer::TorchLayer(LayerArgs::of(
            {input_size, hidden_size, options.num_layers, options.bias,
             options.batch_first, options.dropout, options.bidirectional,
             options.nonlinearity, options.proj_size})) {}
};

// hx [layers * directions, N, hidden_size]; returns (output, h_n).
struct RNN : RecurrentLayer<RNN, "RNN"> {
  using RecurrentLayer::RecurrentLayer;
  Value forward(Value input, Value hx);
};

// hx a pair (h, c); returns (output, (h_n, c_n)).
struct LSTM : RecurrentLayer<LSTM, "LSTM"> {
  using RecurrentLayer::RecurrentLayer;
  Value forward(Value input, Value hx);
};

// As RNN.
struct GRU : RecurrentLayer<GRU, "GRU"> {
  using RecurrentLayer::RecurrentLayer;
  Value forward(Value input, Value hx);
};

using RecurrentLayers = LayerList<RNN, LSTM, GRU>;

}  // namespace fxjit::nn
