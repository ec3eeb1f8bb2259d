// Recurrent layers, composed before patterns are looked for: of each layer the
// product with its inputs for all times at once, which compiled programs see as
// any other, and fxjit.recurrence (src/ops/table/recurrence.h).
#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// What a call asks for, of sequences as a tensor or packed.
struct Layers {
  const OpCall& call;
  const char* cell;
  const char* activation;  // Of an RNN, else null.
  Value input, batch_sizes;
  ValueList states;  // Hidden, and of an LSTM the cells.
  Value params;
  bool biased;
  int64_t count;
  Value dropout;
  bool training, both_ways, batch_first;

  int64_t directions() const { return both_ways ? 2 : 1; }
  bool is_lstm() const { return states.size() == 2; }
};

// (input, hx, params, has_biases, num_layers, dropout, training,
// bidirectional, batch_first).
Layers read_layers(const OpCall& call, const char* cell,
                   const char* activation) {
  return {call,         cell,         activation,   call[0],         Value(),
          {call[1]},    call[2],      call.flag(3), call.integer(4), call[5],
          call.flag(6), call.flag(7), call.flag(8)};
}

// (data, batch_sizes, hx, params, has_biases, num_layers, dropout, training,
// bidirectional).
Layers read_packed(const OpCall& call, const char* cell,
                   const char* activation) {
  return {call,         cell,         activation,   call[0],         call[1],
          {call[2]},    call[3],      call.flag(4), call.integer(5), call[6],
          call.flag(7), call.flag(8), false};
}

ValueList two_states(const Value& given) {
  if (!given.is_sequence() || given.size() != 2)
    runtime_error("lstm expects two hidden states");
  return given.as_sequence();
}

// The weights of one direction of a layer.
struct Weights {
  Value input, state, input_bias, state_bias, projection;
};

bool has_projections(const Layers& layers) {
  return layers.is_lstm() &&
         meta_of(layers.states[0]).size(2) != meta_of(layers.states[1]).size(2);
}

Weights weights_of(const Layers& layers, int64_t index) {
  const ValueList& all = layers.params.as_sequence();
  const size_t each = (layers.biased ? 4 : 2) + has_projections(layers);
  size_t at = static_cast<size_t>(index) * each;
  Weights weights{all[at], all[at + 1], {}, {}, {}};
  if (layers.biased) {
    weights.input_bias = all[at + 2];
    weights.state_bias = all[at + 3];
  }
  if (has_projections(layers)) weights.projection = all[at + each - 1];
  return weights;
}

// With the text of torch.nn.
void check_types(DType input, DType weights) {
  if (input == weights) return;
  const auto named = [](DType dtype) {
    return "torch." + std::string(dtype_name(dtype));
  };
  throw ValueError("RNN input dtype (" + named(input) +
                   ") does not match weight dtype (" + named(weights) +
                   "). Convert input: input.to(" + named(weights) +
                   "), or convert model: model.to(" + named(input) + ")");
}

void check(const Layers& layers) {
  const Tensor input = meta_of(layers.input);
  const bool packed = !layers.batch_sizes.is_none();
  if (input.dim() != (packed ? 2 : 3))
    runtime_error("Expected an input of ", packed ? 2 : 3, " dimensions, got ",
                  input.dim());
  if (packed ? meta_of(layers.batch_sizes).numel() == 0
             : input.size(layers.batch_first ? 1 : 0) == 0)
    runtime_error("Expected sequence length to be larger than 0 in RNN");
  if (layers.count <= 0)
    runtime_error("Expected more than 0 layers, got ", layers.count);
  for (const Value& state : layers.states)
    if (meta_of(state).dim() != 3)
      runtime_error("Expected hidden states of 3 dimensions, got ",
                    meta_of(state).dim());
  const int64_t sides = ExactInt(layers.count) * layers.directions();
  const size_t each = (layers.biased ? 4 : 2) + has_projections(layers);
  const size_t given = layers.params.as_sequence().size();
  if (given % each != 0)
    runtime_error("got an incorrect number of RNN parameters");
  const size_t sets = given / each;
  if (layers.both_ways && sets % 2 != 0)
    runtime_error(
        "Odd number of params or hiddens given to a bidirectional RNN");
  for (const Value& state : layers.states) {
    const int64_t held = meta_of(state).sizes()[0];
    if (held < sides)
      runtime_error("Expected more hidden states in stacked_rnn");
  }
  if (sets < static_cast<size_t>(sides))
    runtime_error("Expected more weights in stacked_rnn");
  check_types(input.dtype(), meta_of(layers.params.as_sequence()[0]).dtype());
}

// The products of the inputs [.., features] of all times with the weights of
// one direction. An LSTM and an RNN add both biases alike.
Value gates_of(const Layers& layers, const Weights& weights,
               const Value& input) {
  Value bias = weights.input_bias;
  if (layers.biased && std::string_view(layers.cell) != "gru")
    bias = bias + weights.state_bias;
  return nn::functional::linear(input, weights.input, bias);
}

// Two or three values: the output [L, N, ...] and the final states.
Value run_layer(const Layers& layers, int64_t layer, const Value& input,
                bool batch_first) {
  const int64_t directions = layers.directions();
  ValueList gates, state_weights, biases, projections;
  for (int64_t d = 0; d < directions; ++d) {
    const Weights weights = weights_of(layers, layer * directions + d);
    const Value sums = gates_of(layers, weights, input);
    gates.push_back(batch_first ? fxjit::transpose(sums, 0, 1) : sums);
    state_weights.push_back(weights.state);
    if (layers.biased && std::string_view(layers.cell) == "gru")
      biases.push_back(weights.state_bias);
    if (!weights.projection.is_none())
      projections.push_back(weights.projection);
  }
  ValueList states;
  for (const Value& state : layers.states)
    states.push_back(fxjit::narrow(state, 0, layer * directions, directions));
  ValueList activations;
  if (layers.activation)
    activations.assign(static_cast<size_t>(directions), layers.activation);
  return call_row(
      "fxjit.recurrence",
      {Value::list(std::move(gates)), Value::list(std::move(state_weights)),
       Value::list(std::move(biases)), states[0],
       layers.is_lstm() ? states[1] : Value(),
       Value::list(std::move(projections)), Value::list({}), layers.batch_sizes,
       None, layers.cell, layers.both_ways ? "bidirectional" : "forward",
       Value::list(std::move(activations))});
}

// The output, then each of the final states [layers * directions, N, width].
Value run_layers(const Layers& layers) {
  check(layers);
  Value value = layers.input;
  std::vector<ValueList> last(layers.states.size());
  for (int64_t layer = 0; layer < layers.count; ++layer) {
    if (layer > 0 && layers.training && layers.dropout.as_double() > 0)
      value = function("torch.dropout", {value, layers.dropout, true});
    const Value results =
        run_layer(layers, layer, value, layers.batch_first && layer == 0);
    value = fxjit::getitem(results, 0);
    for (size_t i = 0; i < last.size(); ++i)
      last[i].push_back(fxjit::getitem(results, static_cast<int64_t>(i + 1)));
  }
  ValueList results{layers.batch_first ? fxjit::transpose(value, 0, 1) : value};
  for (ValueList& each : last)
    results.push_back(each.size() == 1
                          ? each[0]
                          : fxjit::cat(Value::list(std::move(each)), 0));
  return Value::tuple(std::move(results));
}

using ReadFn = Layers (*)(const OpCall&, const char*, const char*);

template <ReadFn kRead>
Value lstm(const OpCall& call) {
  Layers layers = kRead(call, "lstm", nullptr);
  layers.states = two_states(layers.states[0]);
  return run_layers(layers);
}

template <ReadFn kRead>
Value gru(const OpCall& call) {
  return run_layers(kRead(call, "gru", nullptr));
}

template <ReadFn kRead>
Value rnn_tanh(const OpCall& call) {
  return run_layers(kRead(call, "rnn", "tanh"));
}

template <ReadFn kRead>
Value rnn_relu(const OpCall& call) {
  return run_layers(kRead(call, "rnn", "relu"));
}

constexpr const char* kLayersSchema =
    "input, hx, params, has_biases, num_layers, dropout, training, "
    "bidirectional, batch_first";
constexpr const char* kPackedSchema =
    "data, batch_sizes, hx, params, has_biases, num_layers, dropout, "
    "training, bidirectional";

constexpr OpRow layers_row(const char* name, const char* schema,
                           const char* names, DecomposeFn decompose) {
  return inlined_row(name, schema, names, decompose, Purity::random);
}

constexpr OpRow kRecurrentRows[] = {
    layers_row("lstm", kLayersSchema, "torch.lstm", lstm<read_layers>),
    layers_row("gru", kLayersSchema, "torch.gru", gru<read_layers>),
    layers_row("rnn_tanh", kLayersSchema, "torch.rnn_tanh",
               rnn_tanh<read_layers>),
    layers_row("rnn_relu", kLayersSchema, "torch.rnn_relu",
               rnn_relu<read_layers>),
    layers_row("lstm_packed", kPackedSchema, "", lstm<read_packed>),
    layers_row("gru_packed", kPackedSchema, "", gru<read_packed>),
    layers_row("rnn_tanh_packed", kPackedSchema, "", rnn_tanh<read_packed>),
    layers_row("rnn_relu_packed", kPackedSchema, "", rnn_relu<read_packed>),
};

}  // namespace

std::span<const OpRow> recurrent_rows() { return kRecurrentRows; }

}  // namespace fxjit::ops
