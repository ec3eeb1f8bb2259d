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

Value RecurrentBase::run(const char* function_name, Value input,
                         ValueList states) {
  const bool batched = method(input, "dim", {}).as_int() == 3;
  const bool batch_first = batched && options.batch_first;
  if (!batched) input = unsqueeze(input, 1);
  if (size(input, 2) != input_size)
    throw RuntimeError("input.size(-1) must be equal to input_size. Expected " +
                       std::to_string(input_size) + ", got " +
                       std::to_string(size(input, 2)));
  const int64_t count = options.num_layers * (options.bidirectional ? 2 : 1);
  for (Value& state : states) {
    if (state.is_none())
      state = method(input, "new_zeros",
                     {Value::tuple({count, size(input, batch_first ? 0 : 1),
                                    hidden_size})});
    else if (!batched)
      state = unsqueeze(state, 1);
  }
  ValueList flat;
  for (const auto& [name, weight] : weights) flat.push_back(Value(weight));
  const Value hx = states.size() == 1 ? states[0] : Value::tuple(states);
  const Value results = function(
      function_name, {input, hx, Value::list(std::move(flat)), options.bias,
                      options.num_layers, options.dropout, training(),
                      options.bidirectional, batch_first});
  if (batched) return results;
  ValueList unbatched;
  for (size_t i = 0; i <= states.size(); ++i)
    unbatched.push_back(squeeze(getitem(results, i), 1));
  return Value::tuple(std::move(unbatched));
}

RNN::RNN(int64_t input_size, int64_t hidden_size, RecurrentOptions options)
    : Custom("RNN", input_and_state(), 1, input_size, hidden_size,
             std::move(options)) {}

Value RNN::forward(Value input, Value hx) {
  return run(
      options.nonlinearity == "relu" ? "torch.rnn_relu" : "torch.rnn_tanh",
      input, {hx});
}

LSTM::LSTM(int64_t input_size, int64_t hidden_size, RecurrentOptions options)
    : Custom("LSTM", input_and_state(), 4, input_size, hidden_size,
             std::move(options)) {}

Value LSTM::forward(Value input, Value hx) {
  const bool given = !hx.is_none();
  const Value results =
      run("torch.lstm", input,
          {given ? getitem(hx, 0) : Value(), given ? getitem(hx, 1) : Value()});
  return Value::tuple(
      {getitem(results, 0),
       Value::tuple({getitem(results, 1), getitem(results, 2)})});
}

GRU::GRU(int64_t input_size, int64_t hidden_size, RecurrentOptions options)
    : Custom("GRU", input_and_state(), 3, input_size, hidden_size,
             std::move(options)) {}

Value GRU::forward(Value input, Value hx) {
  return run("torch.gru", input, {hx});
}

}  // namespace fxjit::nn
