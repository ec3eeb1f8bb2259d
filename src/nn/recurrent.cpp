#include "fxjit/nn/recurrent.h"

#include <algorithm>
#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

int64_t size(const Value& x, int64_t dim) {
  return method(x, "size", {dim}).as_int();
}

Signature input_and_state() { return Signature({"input", {"hx", None}}); }

Value part(const Value& gates, int64_t index, int64_t width) {
  return narrow(gates, -1, index * width, width);
}

Value rnn_step(const RecurrentBase& self, const Value& from_input,
               const Value& from_state, ValueList& state) {
  const Value sum = from_input + from_state;
  return state[0] = self.options.nonlinearity == "relu" ? relu(sum) : tanh(sum);
}

Value lstm_step(const RecurrentBase& self, const Value& from_input,
                const Value& from_state, ValueList& state) {
  const Value sum = from_input + from_state;
  const auto gate = [&](int64_t i) { return part(sum, i, self.hidden_size); };
  const Value kept = sigmoid(gate(1)) * state[1];
  const Value in = sigmoid(gate(0));
  state[1] = kept + in * tanh(gate(2));
  const Value out = sigmoid(gate(3));
  return state[0] = out * tanh(state[1]);
}

Value gru_step(const RecurrentBase& self, const Value& from_input,
               const Value& from_state, ValueList& state) {
  const auto x = [&](int64_t i) {
    return part(from_input, i, self.hidden_size);
  };
  const auto h = [&](int64_t i) {
    return part(from_state, i, self.hidden_size);
  };
  const Value x_reset = x(0), x_update = x(1), x_fresh = x(2);
  const Value reset = sigmoid(x_reset + h(0));
  const Value update = sigmoid(x_update + h(1));
  const Value fresh = tanh(x_fresh + reset * h(2));
  const Value taken = (1 - update) * fresh;
  return state[0] = taken + update * state[0];
}

}  // namespace

RecurrentBase::RecurrentBase(std::string type_name, Signature signature,
                             int64_t gates, int64_t input_size,
                             int64_t hidden_size, RecurrentOptions options)
    : LeafModule(std::move(type_name), std::move(signature)),
      gates(gates),
      input_size(input_size),
      hidden_size(hidden_size),
      options(std::move(options)) {
  if (hidden_size <= 0)
    throw ValueError("hidden_size must be greater than zero");
  if (this->options.num_layers <= 0)
    throw ValueError("num_layers must be greater than zero");
  const std::string& kind = this->options.nonlinearity;
  if (kind != "tanh" && kind != "relu")
    throw ValueError("Unknown nonlinearity '" + kind +
                     "'. Select from 'tanh' or 'relu'.");
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  const int64_t directions = this->options.bidirectional ? 2 : 1;
  const auto add = [&](const std::string& name, const Dims& sizes) {
    weights.emplace_back(name,
                         register_parameter(name, init::uniform(sizes, bound)));
  };
  for (int64_t layer = 0; layer < this->options.num_layers; ++layer)
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix =
          "_l" + std::to_string(layer) + (direction ? "_reverse" : "");
      const int64_t in = layer == 0 ? input_size : hidden_size * directions;
      add("weight_ih" + suffix, {gates * hidden_size, in});
      add("weight_hh" + suffix, {gates * hidden_size, hidden_size});
      if (!this->options.bias) continue;
      add("bias_ih" + suffix, {gates * hidden_size});
      add("bias_hh" + suffix, {gates * hidden_size});
    }
}

std::string RecurrentBase::extra_repr() const {
  std::string text =
      std::to_string(input_size) + ", " + std::to_string(hidden_size);
  if (options.num_layers != 1)
    text += ", num_layers=" + std::to_string(options.num_layers);
  if (!options.bias) text += ", bias=False";
  if (options.batch_first) text += ", batch_first=True";
  if (options.dropout != 0) text += ", dropout=" + py(options.dropout);
  if (options.bidirectional) text += ", bidirectional=True";
  return text;
}

// input [L, N, features] to output [L, N, hidden_size]. The products of all
// inputs are one.
Value RecurrentBase::run_direction(const Value& input, int64_t index,
                                   ValueList& state, Step step) {
  const size_t each = options.bias ? 4 : 2;
  const size_t first = static_cast<size_t>(index) * each;
  const auto weight = [&](size_t i) {
    return Value(weights[first + i].second);
  };
  const Value bias_in = options.bias ? weight(2) : Value();
  const Value bias_state = options.bias ? weight(3) : Value();
  const Value sums = functional::linear(input, weight(0), bias_in);
  const int64_t length = size(input, 0);
  const bool reverse = options.bidirectional && index % 2 == 1;
  ValueList outputs(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = reverse ? length - 1 - i : i;
    const Value from_state =
        functional::linear(state[0], weight(1), bias_state);
    outputs[static_cast<size_t>(at)] =
        step(*this, select(sums, 0, at), from_state, state);
  }
  return stack(Value::list(std::move(outputs)), 0);
}

std::pair<Value, ValueList> RecurrentBase::run(Value input, ValueList states,
                                               Step step) {
  const bool batched = method(input, "dim", {}).as_int() == 3;
  if (!batched) input = unsqueeze(input, 1);
  if (batched && options.batch_first) input = transpose(input, 0, 1);
  if (size(input, 0) == 0)
    throw RuntimeError("Expected sequence length to be larger than 0 in RNN");
  if (size(input, 2) != input_size)
    throw RuntimeError("input.size(-1) must be equal to input_size. Expected " +
                       std::to_string(input_size) + ", got " +
                       std::to_string(size(input, 2)));
  const int64_t directions = options.bidirectional ? 2 : 1;
  const int64_t count = options.num_layers * directions;
  for (Value& state : states) {
    if (state.is_none())
      state = method(input, "new_zeros",
                     {Value::tuple({count, size(input, 1), hidden_size})});
    else if (!batched)
      state = unsqueeze(state, 1);
  }
  std::vector<ValueList> last(states.size());
  for (int64_t layer = 0; layer < options.num_layers; ++layer) {
    ValueList sides;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t index = layer * directions + d;
      ValueList state;
      for (const Value& all : states) state.push_back(select(all, 0, index));
      sides.push_back(run_direction(input, index, state, step));
      for (size_t i = 0; i < state.size(); ++i) last[i].push_back(state[i]);
    }
    input = sides.size() == 1 ? sides[0] : cat(Value::list(sides), -1);
  }
  ValueList finals;
  for (ValueList& each : last) {
    finals.push_back(stack(Value::list(std::move(each)), 0));
    if (!batched) finals.back() = squeeze(finals.back(), 1);
  }
  if (!batched) input = squeeze(input, 1);
  if (batched && options.batch_first) input = transpose(input, 0, 1);
  return {input, finals};
}

RNN::RNN(int64_t input_size, int64_t hidden_size, RecurrentOptions options)
    : Custom("RNN", input_and_state(), 1, input_size, hidden_size,
             std::move(options)) {}

Value RNN::forward(Value input, Value hx) {
  auto [output, states] = run(input, {hx}, rnn_step);
  return Value::tuple({output, states[0]});
}

LSTM::LSTM(int64_t input_size, int64_t hidden_size, RecurrentOptions options)
    : Custom("LSTM", input_and_state(), 4, input_size, hidden_size,
             std::move(options)) {}

Value LSTM::forward(Value input, Value hx) {
  const bool given = !hx.is_none();
  auto [output, states] =
      run(input,
          {given ? getitem(hx, 0) : Value(), given ? getitem(hx, 1) : Value()},
          lstm_step);
  return Value::tuple({output, Value::tuple({states[0], states[1]})});
}

GRU::GRU(int64_t input_size, int64_t hidden_size, RecurrentOptions options)
    : Custom("GRU", input_and_state(), 3, input_size, hidden_size,
             std::move(options)) {}

Value GRU::forward(Value input, Value hx) {
  auto [output, states] = run(input, {hx}, gru_step);
  return Value::tuple({output, states[0]});
}

}  // namespace fxjit::nn
