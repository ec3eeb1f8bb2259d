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

Value CellBase::from_input(const Value& input) const {
  return functional::linear(input, weight_ih, bias_ih);
}

Value CellBase::from_state(const Value& state) const {
  return functional::linear(state, weight_hh, bias_hh);
}

Value CellBase::zeros_like_state(const Value& input) const {
  return zeros_like(narrow(from_input(input), -1, 0, hidden_size));
}

Value CellBase::gate(const Value& sums, int64_t index) const {
  return narrow(sums, -1, index * hidden_size, hidden_size);
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
  const Value sums = from_input(input) + from_state(hx);
  return nonlinearity == "relu" ? relu(sums) : tanh(sums);
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
  const Value x = from_input(input);
  const Value sums = x + from_state(h);
  const Value kept = sigmoid(gate(sums, 1)) * c;
  const Value in = sigmoid(gate(sums, 0));
  const Value next = kept + in * tanh(gate(sums, 2));
  const Value out = sigmoid(gate(sums, 3));
  return Value::tuple({out * tanh(next), next});
}

GRUCell::GRUCell(int64_t input_size, int64_t hidden_size, bool bias)
    : Custom("GRUCell", 3, input_size, hidden_size, bias) {}

Value GRUCell::forward(Value input, Value hx) {
  if (hx.is_none()) hx = zeros_like_state(input);
  const Value x = from_input(input), h = from_state(hx);
  const Value x_reset = gate(x, 0);
  const Value reset = sigmoid(x_reset + gate(h, 0));
  const Value x_update = gate(x, 1);
  const Value update = sigmoid(x_update + gate(h, 1));
  const Value x_fresh = gate(x, 2);
  const Value fresh = tanh(x_fresh + reset * gate(h, 2));
  const Value taken = (1 - update) * fresh;
  return taken + update * hx;
}

}  // namespace fxjit::nn
