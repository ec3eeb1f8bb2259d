#include "fxjit/nn/cells.h"

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/nn/gates.h"

namespace fxjit::nn {

CellBase::CellBase(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)) {
  using T = CellBase;
  const bool with_bias = presence("bias", "bias_ih");
  if (hidden_size <= 0)
    throw ValueError("hidden_size must be greater than zero");
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  const int64_t rows = gates_of(layer) * hidden_size;
  const auto bias = [&] {
    return with_bias ? Parameter(init::uniform({rows}, bound)) : Parameter();
  };
  add("weight_ih", &T::weight_ih,
      Parameter(init::uniform({rows, input_size}, bound)));
  add("weight_hh", &T::weight_hh,
      Parameter(init::uniform({rows, hidden_size}, bound)));
  add("bias_ih", &T::bias_ih, bias());
  add("bias_hh", &T::bias_hh, bias());
}

std::string CellBase::extra_repr() const {
  return std::to_string(input_size) + ", " + std::to_string(hidden_size) +
         (bias_ih.defined() ? "" : ", bias=False");
}

Value CellBase::run(const char* function_name, const Value& input,
                    const Value& hx) const {
  return function(function_name,
                  {input, hx, weight_ih, weight_hh, bias_ih, bias_hh});
}

Value CellBase::zeros_like_state(const Value& input) const {
  return zeros_like(narrow(functional::linear(input, weight_ih, bias_ih), -1, 0,
                           hidden_size));
}

RNNCell::RNNCell(LayerArgs given) : TorchLayer(std::move(given)) {
  if (nonlinearity != "tanh" && nonlinearity != "relu")
    throw ValueError("Unknown nonlinearity: " + nonlinearity);
}

Value RNNCell::forward(Value input, Value hx) {
  if (hx.is_none()) hx = zeros_like_state(input);
  return run(
      nonlinearity == "relu" ? "torch.rnn_relu_cell" : "torch.rnn_tanh_cell",
      input, hx);
}

std::string RNNCell::extra_repr() const {
  return CellBase::extra_repr() +
         (nonlinearity == "tanh" ? "" : ", nonlinearity=" + nonlinearity);
}

Value LSTMCell::forward(Value input, Value hx) {
  const bool given = !hx.is_none();
  const Value h = given ? getitem(hx, 0) : zeros_like_state(input);
  const Value c = given ? getitem(hx, 1) : h;
  return run("torch.lstm_cell", input, Value::tuple({h, c}));
}

Value GRUCell::forward(Value input, Value hx) {
  if (hx.is_none()) hx = zeros_like_state(input);
  return run("torch.gru_cell", input, hx);
}

}  // namespace fxjit::nn
