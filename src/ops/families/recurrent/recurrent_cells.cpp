// Cells of recurrent layers: one step, composed before patterns are looked for,
// so that compiled programs see the products.
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

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

ValueList two_states(const OpCall& call) {
  const ValueList& states = call[1].as_sequence();
  if (states.size() != 2) runtime_error("lstm expects two hidden states");
  return states;
}

// With torch's texts; `what` is "LSTMCell: Expected hx[0]", say.
void check_rank(const Tensor& tensor, const std::string& what) {
  if (tensor.dim() != 1 && tensor.dim() != 2)
    throw ValueError(what + " to be 1D or 2D, got " +
                     std::to_string(tensor.dim()) + "D instead");
}

void check_state(const Tensor& input, const Tensor& state, int64_t width,
                 const std::string& name) {
  const auto batch = [](const Tensor& t) {
    return t.dim() == 2 ? t.size(0) : Size(1);
  };
  if (batch(state) != batch(input))
    runtime_error("Input batch size ", batch(input), " doesn't match ", name,
                  " batch size ", batch(state));
  if (state.size(-1) != width)
    runtime_error(name, " has inconsistent hidden_size: got ", state.size(-1),
                  ", expected ", width);
}

void check(const OpCall& call, const ValueList& state,
           const std::string& module) {
  const Tensor input = meta_of(call[0]);
  const bool lstm = state.size() == 2;
  check_rank(input, module + ": Expected input");
  for (size_t i = 0; i < state.size(); ++i)
    check_rank(meta_of(state[i]),
               module + ": Expected " +
                   (lstm ? "hx[" + std::to_string(i) + "]" : "hidden"));
  const int64_t wanted = meta_of(call[2]).size(-1);
  if (input.size(-1) != wanted)
    runtime_error("input has inconsistent input_size: got ", input.size(-1),
                  " expected ", wanted);
  for (size_t i = 0; i < state.size(); ++i)
    check_state(input, meta_of(state[i]), meta_of(call[3]).size(-1),
                "hidden" + std::to_string(i));
}

// (input, hx, w_ih, w_hh, b_ih, b_hh).
void run_cell(const OpCall& call, ValueList& state, Step step,
              const char* module) {
  using nn::functional::linear;
  check(call, state, module);
  const Value from_input = linear(call[0], call[2], call[4]);
  step(from_input, linear(state[0], call[3], call[5]), state);
}

template <Step kStep>
Value rnn_cell(const OpCall& call) {
  ValueList state{call[1]};
  run_cell(call, state, kStep, "RNNCell");
  return state[0];
}

Value gru_cell(const OpCall& call) {
  ValueList state{call[1]};
  run_cell(call, state, gru_step, "GRUCell");
  return state[0];
}

Value lstm_cell(const OpCall& call) {
  ValueList state = two_states(call);
  run_cell(call, state, lstm_step, "LSTMCell");
  return Value::tuple(std::move(state));
}

constexpr OpRow cell_row(const char* name, const char* names,
                         DecomposeFn decompose) {
  return inlined_row(name, "input, hx, w_ih, w_hh, b_ih=None, b_hh=None", names,
                     decompose);
}

constexpr Step kTanhStep = plain_step<fxjit::tanh>;
constexpr Step kReluStep = plain_step<fxjit::relu>;

constexpr OpRow kRecurrentCellsRows[] = {
    cell_row("lstm_cell", "torch.lstm_cell", lstm_cell),
    cell_row("gru_cell", "torch.gru_cell", gru_cell),
    cell_row("rnn_tanh_cell", "torch.rnn_tanh_cell", rnn_cell<kTanhStep>),
    cell_row("rnn_relu_cell", "torch.rnn_relu_cell", rnn_cell<kReluStep>),
};

}  // namespace

std::span<const OpRow> recurrent_cell_rows() { return kRecurrentCellsRows; }

}  // namespace fxjit::ops
