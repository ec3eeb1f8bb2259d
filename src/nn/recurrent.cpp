#include "fxjit/nn/recurrent.h"

#include <algorithm>
#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/nn/gates.h"

namespace fxjit::nn {
namespace {

int64_t size_along(const Value& x, int64_t dim) {
  return method(x, "size", {dim}).as_int();
}

}  // namespace

RecurrentBase::RecurrentBase(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)), gates(gates_of(layer)) {
  check_options();
  for (int64_t i = 0; i < options.num_layers; ++i) {
    const std::string suffix = "_l" + std::to_string(i);
    add_weights(i, suffix);
    if (options.bidirectional) add_weights(i, suffix + "_reverse");
  }
}

RecurrentOptions RecurrentBase::read_options() {
  return {.num_layers = field("num_layers"),
          .bias = field("bias"),
          .batch_first = field("batch_first"),
          .dropout = field("dropout"),
          .bidirectional = field("bidirectional"),
          .nonlinearity = field("nonlinearity"),
          .proj_size = field("proj_size")};
}

void RecurrentBase::check_options() const {
  if (hidden_size <= 0)
    throw ValueError("hidden_size must be greater than zero");
  if (options.num_layers <= 0)
    throw ValueError("num_layers must be greater than zero");
  const std::string& kind = options.nonlinearity;
  if (kind != "tanh" && kind != "relu")
    throw ValueError("Unknown nonlinearity '" + kind +
                     "'. Select from 'tanh' or 'relu'.");
  const int64_t projected = options.proj_size;
  if (projected < 0)
    throw ValueError(
        "proj_size should be a positive integer or zero to disable "
        "projections");
  if (projected >= hidden_size)
    throw ValueError("proj_size has to be smaller than hidden_size");
  if (projected > 0 && gates != 4)
    throw ValueError(
        "proj_size argument is only supported for LSTM, not RNN or GRU");
}

std::vector<std::pair<std::string, Parameter*>> RecurrentBase::handles() {
  std::vector<std::pair<std::string, Parameter*>> handles;
  for (auto& [name, weight] : weights) handles.emplace_back(name, &weight);
  return handles;
}

// The width of a state. State 0 is the hidden one.
int64_t RecurrentBase::width_of(size_t state) const {
  return state == 0 && options.proj_size > 0 ? options.proj_size : hidden_size;
}

void RecurrentBase::add_weights(int64_t layer, const std::string& suffix) {
  const double bound = 1 / std::sqrt(static_cast<double>(hidden_size));
  const int64_t directions = options.bidirectional ? 2 : 1;
  const int64_t width = width_of(0);
  const auto add = [&](const std::string& name, const Dims& sizes) {
    weights.emplace_back(
        name + suffix,
        register_parameter(name + suffix, init::uniform(sizes, bound)));
  };
  add("weight_ih",
      {gates * hidden_size, layer == 0 ? input_size : width * directions});
  add("weight_hh", {gates * hidden_size, width});
  if (options.bias) {
    add("bias_ih", {gates * hidden_size});
    add("bias_hh", {gates * hidden_size});
  }
  if (options.proj_size > 0) add("weight_hr", {width, hidden_size});
}

std::string RecurrentBase::extra_repr() const {
  std::string text =
      std::to_string(input_size) + ", " + std::to_string(hidden_size);
  if (options.proj_size != 0)
    text += ", proj_size=" + std::to_string(options.proj_size);
  if (options.num_layers != 1)
    text += ", num_layers=" + std::to_string(options.num_layers);
  if (!options.bias) text += ", bias=False";
  if (options.batch_first) text += ", batch_first=True";
  if (options.dropout != 0) text += ", dropout=" + fxjit::repr(options.dropout);
  if (options.bidirectional) text += ", bidirectional=True";
  return text;
}

// With torch's texts.
void RecurrentBase::check(const Value& input, const ValueList& states) const {
  const int64_t dims = method(input, "dim", {}).as_int();
  const bool lstm = states.size() == 2;
  if (dims != 2 && dims != 3)
    throw ValueError(type_name() + ": Expected input to be 2D or 3D, got " +
                     std::to_string(dims) + "D " +
                     (gates == 1 ? "tensor instead" : "instead"));
  if (size_along(input, -1) != input_size)
    throw RuntimeError("input.size(-1) must be equal to input_size. Expected " +
                       std::to_string(input_size) + ", got " +
                       std::to_string(size_along(input, -1)));
  std::string given;
  bool fits = true;
  for (const Value& state : states) {
    if (state.is_none()) continue;
    const int64_t rank = method(state, "dim", {}).as_int();
    fits = fits && rank == dims;
    given += (given.empty() ? "" : ", ") + std::to_string(rank) + "-D";
  }
  if (fits) return;
  const std::string rank = std::to_string(dims) + "-D";
  throw RuntimeError((dims == 3 ? "For batched " : "For unbatched ") + rank +
                     " input, hx " + (lstm ? "and cx " : "") +
                     "should also be " + rank + " but got " +
                     (lstm ? "(" + given + ") tensors" : given + " tensor"));
}

Value RecurrentBase::run(const char* function_name, Value input,
                         ValueList states) {
  check(input, states);
  const bool batched = method(input, "dim", {}).as_int() == 3;
  const bool batch_first = batched && options.batch_first;
  if (!batched) input = unsqueeze(input, 1);
  const int64_t count = options.num_layers * (options.bidirectional ? 2 : 1);
  for (size_t i = 0; i < states.size(); ++i) {
    Value& state = states[i];
    const Dims sizes{count, size_along(input, batch_first ? 0 : 1),
                     width_of(i)};
    if (state.is_none()) {
      state = method(input, "new_zeros", {sizes});
      continue;
    }
    if (!batched) state = unsqueeze(state, 1);
    const Dims got{size_along(state, 0), size_along(state, 1),
                   size_along(state, 2)};
    if (got == sizes) continue;
    const std::string which =
        states.size() == 2 ? "[" + std::to_string(i) + "]" : "";
    throw RuntimeError(
        "Expected hidden" + which + " size " +
        fxjit::repr(Value::tuple({sizes[0], sizes[1], sizes[2]})) + ", got " +
        got.str());
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

Value RNN::forward(Value input, Value hx) {
  return run(
      options.nonlinearity == "relu" ? "torch.rnn_relu" : "torch.rnn_tanh",
      input, {hx});
}

Value LSTM::forward(Value input, Value hx) {
  const bool given = !hx.is_none();
  const Value results =
      run("torch.lstm", input,
          {given ? getitem(hx, 0) : Value(), given ? getitem(hx, 1) : Value()});
  return Value::tuple(
      {getitem(results, 0),
       Value::tuple({getitem(results, 1), getitem(results, 2)})});
}

Value GRU::forward(Value input, Value hx) {
  return run("torch.gru", input, {hx});
}

}  // namespace fxjit::nn
