#include "fxjit/nn/cells.h"

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

CellBase::CellBase(std::string type_name, int64_t gates, int64_t input_size,
                   int64_t hidden_size, bool with_bias)
    : LeafModule(std::move(type_name), Signature({"input", {"hx", None}})),
      input_size(input_size),
      hidden_size(hidden_size) {
  if (hidden_size <= 0)
    throw ValueError("hidden_size must be greater than zero");
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  const auto weight = [&](const char* name, int64_t in) {
    return register_parameter(name,
                              init::uniform({gates * hidden_size, in}, bound));
  };
  const auto bias = [&](const char* name) {
    return register_parameter(
        name, with_bias ? Parameter(init::uniform({gates * hidden_size}, bound))
                        : Parameter());
  };
  weight_ih = weight("weight_ih", input_size);
  weight_hh = weight("weight_hh", hidden_size);
  bias_ih = bias("bias_ih");
  bias_hh = bias("bias_hh");
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

RNNCell::RNNCell(int64_t input_size, int64_t hidden_size, bool bias,
                 std::string nonlinearity)
    : Custom("RNNCell", 1, input_size, hidden_size, bias),
      nonlinearity(std::move(nonlinearity)) {
  if (this->nonlinearity != "tanh" && this->nonlinearity != "relu")
    throw ValueError("Unknown nonlinearity: " + this->nonlinearity);
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

LSTMCell::LSTMCell(int64_t input_size, int64_t hidden_size, bool bias)
    : Custom("LSTMCell", 4, input_size, hidden_size, bias) {}

Value LSTMCell::forward(Value input, Value hx) {
  const bool given = !hx.is_none();
  const Value h = given ? getitem(hx, 0) : zeros_like_state(input);
  const Value c = given ? getitem(hx, 1) : h;
  return run("torch.lstm_cell", input, Value::tuple({h, c}));
}

GRUCell::GRUCell(int64_t input_size, int64_t hidden_size, bool bias)
    : Custom("GRUCell", 3, input_size, hidden_size, bias) {}

Value GRUCell::forward(Value input, Value hx) {
  if (hx.is_none()) hx = zeros_like_state(input);
  return run("torch.gru_cell", input, hx);
}

}  // namespace fxjit::nn
