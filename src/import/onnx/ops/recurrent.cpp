// Recurrent layers: torch's own where it has the same cell, otherwise their
// steps one by one.
#include <array>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// Larger graphs than this are no gain.
constexpr int64_t kMostSteps = 1024;

using Activation = Value (*)(const Value& x);

struct NamedActivation {
  std::string_view name;
  Activation run;
};

constexpr NamedActivation kActivations[] = {
    {"Sigmoid", [](const Value& x) { return sigmoid(x); }},
    {"Tanh", [](const Value& x) { return tanh(x); }},
    {"Relu", [](const Value& x) { return relu(x); }},
    {"Softsign", [](const Value& x) { return nn::functional::softsign(x); }},
    {"Softplus", [](const Value& x) { return nn::functional::softplus(x); }},
};

struct Layer {
  size_t gates = 1;
  int64_t hidden = 0;
  size_t directions = 1;
  bool backward = false;     // The only direction is from the end.
  bool batch_first = false;
  Value x;                   // [length, n, features]
  Value lengths;             // None, or [n].
  Value h, c;                // [directions, n, hidden]; None: zeros.
  std::vector<std::string> activations;
};

std::vector<std::string> names_of(const Call& call, std::string_view attribute,
                                  const std::vector<std::string>& otherwise,
                                  size_t directions) {
  std::vector<std::string> names;
  if (const AttributeInfo* const given = call.node().find(attribute))
    for (const std::string_view text : given->texts) names.emplace_back(text);
  if (names.empty())
    for (size_t d = 0; d < directions; ++d)
      names.insert(names.end(), otherwise.begin(), otherwise.end());
  if (names.size() != otherwise.size() * directions)
    call.fail("activations: expected " +
              std::to_string(otherwise.size() * directions));
  return names;
}

Layer read_layer(const Call& call, size_t gates,
                 const std::vector<std::string>& activations) {
  Layer layer;
  layer.gates = gates;
  layer.hidden = call.integer("hidden_size");
  if (layer.hidden < 1) call.fail("hidden_size: expected 1 or more");
  const std::string direction = call.text("direction", "forward");
  layer.directions = direction == "bidirectional" ? 2 : 1;
  layer.backward = direction == "reverse";
  if (layer.directions == 1 && !layer.backward && direction != "forward")
    call.fail("direction: \"" + direction + "\" is unknown");
  layer.batch_first = call.flag("layout", false);
  if (call.has_attribute("clip")) call.fail("clip is not supported");
  layer.x = layer.batch_first ? transpose(call[0], 0, 1) : call[0];
  layer.lengths = call.optional(4);
  const auto state = [&](size_t input) {
    if (!call.has(input)) return Value();
    return layer.batch_first ? transpose(call[input], 0, 1) : call[input];
  };
  layer.h = state(5);
  if (gates == 4) layer.c = state(6);
  layer.activations =
      names_of(call, "activations", activations, layer.directions);
  return layer;
}

Value zero_state(const Call& call, const Layer& layer) {
  const Value n = call.sizes_of(layer.x)[1];
  return full(Value::list({layer.directions, n, layer.hidden}), 0.0,
              call.dtype(0));
}

// One direction's weights with its gates in torch's order.
Value in_order(const Layer& layer, const Value& weights,
               const std::vector<int64_t>& order) {
  ValueList parts;
  for (const int64_t gate : order)
    parts.push_back(narrow(weights, 0, gate * layer.hidden, layer.hidden));
  return parts.size() == 1 ? parts[0] : cat(Value::list(parts), 0);
}

// [length, n, directions * hidden] and states, as the op gives them.
std::vector<Operand> results_of(const Layer& layer, Value y,
                                Value h, Value c) {
  y = transpose(unflatten(y, 2, Value::list({layer.directions, layer.hidden})),
                1, 2);
  if (layer.batch_first) {
    y = permute(y, {2, 0, 1, 3});
    h = transpose(h, 0, 1);
    if (!c.is_none()) c = transpose(c, 0, 1);
  }
  return {y, h, c};
}

// torch's layer of one level.
std::vector<Operand> by_torch(const Call& call, Layer layer,
                              const std::string& function_name,
                              const std::vector<int64_t>& order) {
  ValueList params;
  const int64_t width = static_cast<int64_t>(layer.gates) * layer.hidden;
  for (size_t d = 0; d < layer.directions; ++d) {
    params.push_back(in_order(layer, select(call[1], 0, d), order));
    params.push_back(in_order(layer, select(call[2], 0, d), order));
    if (!call.has(3)) continue;
    const Value bias = select(call[3], 0, d);
    params.push_back(in_order(layer, narrow(bias, 0, 0, width), order));
    params.push_back(in_order(layer, narrow(bias, 0, width, width), order));
  }
  if (layer.h.is_none()) layer.h = zero_state(call, layer);
  if (layer.gates == 4 && layer.c.is_none()) layer.c = zero_state(call, layer);
  const Value time = list_of(std::vector<int64_t>{0});
  const Value x = layer.backward ? flip(layer.x, time) : layer.x;
  const Value states = layer.gates == 4 ? Value::list({layer.h, layer.c})
                                        : Value(layer.h);
  const Value made =
      function(function_name,
               {x, states, Value::list(params), call.has(3), 1, 0.0, false,
                layer.directions == 2, false});
  Value y = part_of(made, 0);
  if (layer.backward) y = flip(y, time);
  return results_of(layer, y, part_of(made, 1),
                    layer.gates == 4 ? part_of(made, 2) : Value());
}

// Weights and activations of one direction, for its steps.
struct Cell {
  Value w, r, w_bias, r_bias, peepholes;
  std::vector<Activation> activations;
  int64_t hidden = 0;

  Value gate(const Value& all, int64_t i) const {
    return narrow(all, 1, i * hidden, hidden);
  }
};

Activation find_activation(const Call& call, const std::string& name) {
  for (const NamedActivation& one : kActivations)
    if (one.name == name) return one.run;
  call.fail("activation \"" + name + "\" is not supported");
}

Cell read_cell(const Call& call, const Layer& layer, size_t direction) {
  Cell cell;
  cell.hidden = layer.hidden;
  cell.w = t(select(call[1], 0, direction));
  cell.r = t(select(call[2], 0, direction));
  const int64_t width = static_cast<int64_t>(layer.gates) * layer.hidden;
  if (call.has(3)) {
    const Value bias = select(call[3], 0, direction);
    cell.w_bias = narrow(bias, 0, 0, width);
    cell.r_bias = narrow(bias, 0, width, width);
  } else {
    cell.w_bias = cell.r_bias =
        full(Value::list({width}), 0.0, call.dtype(0));
  }
  if (layer.gates == 4 && call.has(7))
    cell.peepholes = select(call[7], 0, direction);
  const size_t each = layer.activations.size() / layer.directions;
  for (size_t i = 0; i < each; ++i)
    cell.activations.push_back(
        find_activation(call, layer.activations[direction * each + i]));
  return cell;
}

struct State {
  Value h, c;
};

State rnn_step(const Call&, const Cell& cell, const Value& x,
               const State& state) {
  return {cell.activations[0](matmul(x, cell.w) + cell.w_bias +
                              matmul(state.h, cell.r) + cell.r_bias),
          {}};
}

// Gates: update, reset, hidden.
State gru_step(const Call& call, const Cell& cell, const Value& x,
               const State& state) {
  const Value a = matmul(x, cell.w) + cell.w_bias;
  const Value b = matmul(state.h, cell.r) + cell.r_bias;
  const Value update = cell.activations[0](cell.gate(a, 0) + cell.gate(b, 0));
  const Value reset = cell.activations[0](cell.gate(a, 1) + cell.gate(b, 1));
  Value inner;
  if (call.flag("linear_before_reset", false)) {
    inner = reset * cell.gate(b, 2);
  } else {
    const Value weights =
        narrow(cell.r, 1, 2 * cell.hidden, cell.hidden);
    inner = matmul(reset * state.h, weights) +
            narrow(cell.r_bias, 0, 2 * cell.hidden, cell.hidden);
  }
  const Value hidden = cell.activations[1](cell.gate(a, 2) + inner);
  return {(1 - update) * hidden + update * state.h, {}};
}

// Gates: input, output, forget, cell.
State lstm_step(const Call& call, const Cell& cell, const Value& x,
                const State& state) {
  const Value all = matmul(x, cell.w) + cell.w_bias +
                    matmul(state.h, cell.r) + cell.r_bias;
  const auto peep = [&](const Value& gate, int64_t i, const Value& c) {
    if (cell.peepholes.is_none()) return gate;
    return gate +
           c * narrow(cell.peepholes, 0, i * cell.hidden, cell.hidden);
  };
  const Value input =
      cell.activations[0](peep(cell.gate(all, 0), 0, state.c));
  const Value forget =
      call.flag("input_forget", false)
          ? 1 - input
          : cell.activations[0](peep(cell.gate(all, 2), 2, state.c));
  const Value c =
      forget * state.c + input * cell.activations[1](cell.gate(all, 3));
  const Value output = cell.activations[0](peep(cell.gate(all, 1), 1, c));
  return {output * cell.activations[2](c), c};
}

using Step = State (*)(const Call&, const Cell&, const Value&, const State&);

// Steps of one direction; `y` gets the hidden states in order of time.
State run_direction(const Call& call, const Layer& layer, size_t direction,
                    Step step, int64_t length, State state, ValueList& y) {
  const Cell cell = read_cell(call, layer, direction);
  const bool backward = layer.backward || direction == 1;
  y.resize(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = backward ? length - 1 - i : i;
    const State next = step(call, cell, select(layer.x, 0, at), state);
    if (layer.lengths.is_none()) {
      state = next;
      y[static_cast<size_t>(at)] = state.h;
      continue;
    }
    // Behind its end a sequence keeps its state and gives zeros.
    const Value going =
        unsqueeze(function("torch.gt", {layer.lengths, at}), 1);
    y[static_cast<size_t>(at)] = where(going, next.h, zeros_like(next.h));
    state.h = where(going, next.h, state.h);
    if (!state.c.is_none()) state.c = where(going, next.c, state.c);
  }
  return state;
}

std::vector<Operand> by_steps(const Call& call, Layer layer, Step step) {
  const Value length = call.sizes_of(layer.x)[0];
  if (!length.is_int() || length.as_int() > kMostSteps ||
      length.as_int() < 1)
    call.fail("this cell needs a known length of at most " +
              std::to_string(kMostSteps));
  if (layer.h.is_none()) layer.h = zero_state(call, layer);
  if (layer.gates == 4 && layer.c.is_none()) layer.c = zero_state(call, layer);
  ValueList ys, hs, cs;
  for (size_t d = 0; d < layer.directions; ++d) {
    State state{select(layer.h, 0, d),
                layer.gates == 4 ? select(layer.c, 0, d) : Value()};
    ValueList y;
    state = run_direction(call, layer, d, step, length.as_int(), state, y);
    ys.push_back(stack(Value::list(std::move(y)), 0));
    hs.push_back(state.h);
    if (!state.c.is_none()) cs.push_back(state.c);
  }
  return results_of(layer, cat(Value::list(ys), 2),
                    stack(Value::list(hs), 0),
                    cs.empty() ? Value() : stack(Value::list(cs), 0));
}

bool are(const Layer& layer, const std::vector<std::string>& names) {
  for (size_t i = 0; i < layer.activations.size(); ++i)
    if (layer.activations[i] != names[i % names.size()]) return false;
  return true;
}

Results lstm(Call& call) {
  const std::vector<std::string> usual = {"Sigmoid", "Tanh", "Tanh"};
  const Layer layer = read_layer(call, 4, usual);
  const bool plain = layer.lengths.is_none() && !call.has(7) &&
                     !call.flag("input_forget", false) && are(layer, usual);
  return plain ? by_torch(call, layer, "torch.lstm", {0, 2, 3, 1})
               : by_steps(call, layer, lstm_step);
}

Results gru(Call& call) {
  const std::vector<std::string> usual = {"Sigmoid", "Tanh"};
  const Layer layer = read_layer(call, 3, usual);
  const bool plain = layer.lengths.is_none() && are(layer, usual) &&
                     call.flag("linear_before_reset", false);
  return plain ? by_torch(call, layer, "torch.gru", {1, 0, 2})
               : by_steps(call, layer, gru_step);
}

Results rnn(Call& call) {
  const Layer layer = read_layer(call, 1, {"Tanh"});
  if (layer.lengths.is_none() && are(layer, {"Tanh"}))
    return by_torch(call, layer, "torch.rnn_tanh", {0});
  if (layer.lengths.is_none() && are(layer, {"Relu"}))
    return by_torch(call, layer, "torch.rnn_relu", {0});
  return by_steps(call, layer, rnn_step);
}

constexpr OpRow kRows[] = {
    {.op = "GRU", .since = 7, .run = gru},
    {.op = "LSTM", .since = 7, .run = lstm},
    {.op = "RNN", .since = 7, .run = rnn},
};

}  // namespace

std::span<const OpRow> recurrent_rows() { return kRows; }

}  // namespace fxjit::onnx
