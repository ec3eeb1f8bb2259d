// Recurrent layers and cells. The steps are written out for the length at hand,
// before patterns are looked for, so that compiled programs see the products.
#include "fxjit/functions_structured.h"
#include "src/ops/families.h"
#include "src/ops/families/composition.h"
#include "src/ops/families/structured.h"

namespace fxjit::ops {
namespace {

enum Parameter : size_t {
  kInput,
  kState,
  kParams,
  kBiases,
  kLayers,
  kDropout,
  kTraining,
  kBothWays,
  kBatchFirst,
};

// One step: what the input and the state give to the gates makes the new state,
// of which the first part is the output.
using Step = void (*)(const Value& from_input, const Value& from_state,
                      ValueList& state);

Value gate(const Value& sums, int64_t index, const Value& state) {
  const int64_t width = meta_of(state).size(-1);
  return fxjit::narrow(sums, -1, index * width, width);
}

template <Value (*kActivation)(const Arg&)>
void plain_step(const Value& from_input, const Value& from_state,
                ValueList& state) {
  state[0] = kActivation(from_input + from_state);
}

void lstm_step(const Value& from_input, const Value& from_state,
               ValueList& state) {
  const Value sums = from_input + from_state;
  const Value kept = fxjit::sigmoid(gate(sums, 1, state[0])) * state[1];
  const Value in = fxjit::sigmoid(gate(sums, 0, state[0]));
  state[1] = kept + in * fxjit::tanh(gate(sums, 2, state[0]));
  const Value out = fxjit::sigmoid(gate(sums, 3, state[0]));
  state[0] = out * fxjit::tanh(state[1]);
}

void gru_step(const Value& from_input, const Value& from_state,
              ValueList& state) {
  const auto x = [&](int64_t i) { return gate(from_input, i, state[0]); };
  const auto h = [&](int64_t i) { return gate(from_state, i, state[0]); };
  const Value x_reset = x(0), x_update = x(1), x_fresh = x(2);
  const Value reset = fxjit::sigmoid(x_reset + h(0));
  const Value update = fxjit::sigmoid(x_update + h(1));
  const Value fresh = fxjit::tanh(x_fresh + reset * h(2));
  state[0] = (state[0] - fresh) * update + fresh;
}

// The weights of one direction of a layer: for the input and for the state.
struct Weights {
  Value input, state, input_bias, state_bias;
};

Weights weights_of(const OpCall& call, int64_t index) {
  const size_t each = call.flag(kBiases) ? 4 : 2;
  const size_t first = static_cast<size_t>(index) * each;
  const ValueList& all = call[kParams].as_sequence();
  if (all.size() < first + each)
    runtime_error("Expected " + std::to_string(first + each) +
                  " weights or more, got " + std::to_string(all.size()));
  Weights weights{all[first], all[first + 1], {}, {}};
  if (each == 4) {
    weights.input_bias = all[first + 2];
    weights.state_bias = all[first + 3];
  }
  return weights;
}

// input [L, N, features] to output [L, N, width]. The products of all inputs
// are one.
Value run_direction(const Value& input, const Weights& weights, bool reverse,
                    ValueList& state, Step step) {
  using nn::functional::linear;
  const Value sums = linear(input, weights.input, weights.input_bias);
  const int64_t length = meta_of(input).size(0);
  ValueList outputs(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = reverse ? length - 1 - i : i;
    const Value from_state =
        linear(state[0], weights.state, weights.state_bias);
    step(fxjit::select(sums, 0, at), from_state, state);
    outputs[static_cast<size_t>(at)] = state[0];
  }
  return fxjit::stack(Value::list(std::move(outputs)), 0);
}

void check_input(const OpCall& call, const Tensor& input) {
  if (input.dim() != 3)
    runtime_error("Expected an input of 3 dimensions, got " +
                  std::to_string(input.dim()));
  if (input.size(call.flag(kBatchFirst) ? 1 : 0) == 0)
    runtime_error("Expected sequence length to be larger than 0 in RNN");
}

// The output, then each of the final states [layers * directions, N, width].
Value run_layers(const OpCall& call, const ValueList& states, Step step) {
  check_input(call, meta_of(call[kInput]));
  const bool batch_first = call.flag(kBatchFirst);
  Value value =
      batch_first ? fxjit::transpose(call[kInput], 0, 1) : call[kInput];
  const int64_t directions = call.flag(kBothWays) ? 2 : 1;
  const int64_t layers = call.integer(kLayers);
  std::vector<ValueList> last(states.size());
  for (int64_t layer = 0; layer < layers; ++layer) {
    ValueList sides;
    for (int64_t d = 0; d < directions; ++d) {
      const int64_t index = layer * directions + d;
      ValueList state;
      for (const Value& all : states)
        state.push_back(fxjit::select(all, 0, index));
      sides.push_back(
          run_direction(value, weights_of(call, index), d == 1, state, step));
      for (size_t i = 0; i < state.size(); ++i) last[i].push_back(state[i]);
    }
    value = sides.size() == 1 ? sides[0] : fxjit::cat(Value::list(sides), -1);
    if (layer + 1 < layers && call.flag(kTraining) && call.number(kDropout) > 0)
      value = function("torch.dropout", {value, call[kDropout], true});
  }
  ValueList results{batch_first ? fxjit::transpose(value, 0, 1) : value};
  for (ValueList& each : last)
    results.push_back(fxjit::stack(Value::list(std::move(each)), 0));
  return Value::tuple(std::move(results));
}

template <Step kStep>
Value layers_of_one_state(const OpCall& call) {
  return run_layers(call, {call[kState]}, kStep);
}

ValueList two_states(const OpCall& call) {
  const ValueList& states = call[1].as_sequence();
  if (states.size() != 2) runtime_error("lstm expects two hidden states");
  return states;
}

Value lstm(const OpCall& call) {
  return run_layers(call, two_states(call), lstm_step);
}

// (input, hx, w_ih, w_hh, b_ih, b_hh).
void run_cell(const OpCall& call, ValueList& state, Step step) {
  using nn::functional::linear;
  const Value from_input = linear(call[0], call[2], call[4]);
  step(from_input, linear(state[0], call[3], call[5]), state);
}

template <Step kStep>
Value cell_of_one_state(const OpCall& call) {
  ValueList state{call[1]};
  run_cell(call, state, kStep);
  return state[0];
}

Value lstm_cell(const OpCall& call) {
  ValueList state = two_states(call);
  run_cell(call, state, lstm_step);
  return Value::tuple(std::move(state));
}

constexpr OpRow layers_row(const char* name, const char* names,
                           DecomposeFn decompose) {
  return {.name = name,
          .schema =
              "input, hx, params, has_biases, num_layers, dropout, "
              "training, bidirectional, batch_first",
          .names = names,
          .lowering = Lowering::inlined,
          .decompose = decompose,
          .purity = Purity::random};
}

constexpr OpRow cell_row(const char* name, const char* names,
                         DecomposeFn decompose) {
  return {.name = name,
          .schema = "input, hx, w_ih, w_hh, b_ih=None, b_hh=None",
          .names = names,
          .lowering = Lowering::inlined,
          .decompose = decompose};
}

constexpr Step kTanh = plain_step<fxjit::tanh>;
constexpr Step kRelu = plain_step<fxjit::relu>;

constexpr OpRow kRows[] = {
    layers_row("lstm", "torch.lstm", lstm),
    layers_row("gru", "torch.gru", layers_of_one_state<gru_step>),
    layers_row("rnn_tanh", "torch.rnn_tanh", layers_of_one_state<kTanh>),
    layers_row("rnn_relu", "torch.rnn_relu", layers_of_one_state<kRelu>),
    cell_row("lstm_cell", "torch.lstm_cell", lstm_cell),
    cell_row("gru_cell", "torch.gru_cell", cell_of_one_state<gru_step>),
    cell_row("rnn_tanh_cell", "torch.rnn_tanh_cell", cell_of_one_state<kTanh>),
    cell_row("rnn_relu_cell", "torch.rnn_relu_cell", cell_of_one_state<kRelu>),
};

}  // namespace

std::span<const OpRow> recurrent_rows() { return kRows; }

}  // namespace fxjit::ops
