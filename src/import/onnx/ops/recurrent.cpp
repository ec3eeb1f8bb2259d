// Recurrent layers: of each direction the product with its inputs, and
// fxjit.recurrence, which has all that ONNX's cells have. Of the layer with
// quantised weights that product is one of integers, and so is that of the
// states, which are quantised at each time.
#include <algorithm>
#include <initializer_list>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/microsoft.h"
#include "src/import/onnx/ops/quantised_inputs.h"

namespace fxjit::onnx {
namespace {

struct Cell {
  const char* name;
  int64_t gates;
  // Where each of torch's gates stands among ONNX's.
  std::vector<int64_t> order;
  std::vector<std::string> activations;
};

struct Layer {
  int64_t hidden = 0, directions = 1;
  std::string direction;
  bool batch_first = false;
  Value x;     // [length, n, features]
  Value h, c;  // [directions, n, hidden]
};

Value zero_state(const Call& call, const Layer& layer) {
  const Value n = call.sizes_of(layer.x)[1];
  return full(Value::list({layer.directions, n, layer.hidden}), 0.0,
              call.dtype(0));
}

Layer read_layer(const Call& call, const Cell& cell) {
  Layer layer;
  layer.hidden = call.integer("hidden_size");
  if (layer.hidden < 1) call.fail("hidden_size: expected 1 or more");
  layer.direction = call.text("direction", "forward");
  layer.directions = layer.direction == "bidirectional" ? 2 : 1;
  if (layer.directions == 1 && layer.direction != "forward" &&
      layer.direction != "reverse")
    call.fail("direction: \"" + layer.direction + "\" is unknown");
  layer.batch_first = call.flag("layout", false);
  for (size_t i = 0; i < 3; ++i)
    if (call.rank(i) != 3)
      call.fail("input " + std::to_string(i) + ": expected 3 dims, got " +
                std::to_string(call.rank(i)));
  layer.x = layer.batch_first ? transpose(call[0], 0, 1) : call[0];
  const auto state = [&](size_t input) {
    if (!call.has(input)) return zero_state(call, layer);
    return layer.batch_first ? transpose(call[input], 0, 1) : call[input];
  };
  layer.h = state(5);
  if (cell.gates == 4) layer.c = state(6);
  return layer;
}

std::vector<std::string> names_of(const Call& call, const Layer& layer,
                                  const Cell& cell) {
  std::vector<std::string> names;
  if (const AttributeInfo* const given = call.node().find("activations"))
    for (const std::string_view text : given->texts) names.emplace_back(text);
  const size_t count =
      cell.activations.size() * static_cast<size_t>(layer.directions);
  if (names.empty())
    while (names.size() < count)
      names.insert(names.end(), cell.activations.begin(),
                   cell.activations.end());
  if (names.size() != count)
    call.fail("activations: expected " + std::to_string(count));
  return names;
}

// One factor for each activation: those that have one take the next number of
// the attribute, as long as there are numbers.
Value factors_of(const Call& call, std::string_view attribute,
                 const std::vector<std::string>& activations,
                 std::initializer_list<std::string_view> with_factor) {
  const std::vector<double> given =
      call.reals(attribute).value_or(std::vector<double>());
  size_t next = 0;
  ValueList factors;
  for (const std::string& name : activations) {
    const bool takes = std::find(with_factor.begin(), with_factor.end(),
                                 name) != with_factor.end();
    factors.push_back(takes && next < given.size() ? Value(given[next++])
                                                   : Value());
  }
  return Value::list(std::move(factors));
}

// [length, n, directions * hidden] and states, as the op gives them.
std::vector<Operand> results_of(const Layer& layer, const Cell& cell,
                                const Value& made) {
  Value y = transpose(unflatten(part_of(made, 0), 2,
                                Value::list({layer.directions, layer.hidden})),
                      1, 2);
  Value h = part_of(made, 1), c;
  if (cell.gates == 4) c = part_of(made, 2);
  if (layer.batch_first) {
    y = permute(y, {2, 0, 1, 3});
    h = transpose(h, 0, 1);
    if (!c.is_none()) c = transpose(c, 0, 1);
  }
  return {y, h, c};
}

// What the inputs [length, n, features] and the states of a direction are
// multiplied by: weights [width, features] of the inputs, and of the states.
struct RealWeights {
  RealWeights(const Call& call, const Layer&) : call(call) {}

  Value gates(const Value& x, int64_t direction, const Value& bias) const {
    return nn::functional::linear(x, select(call[1], 0, direction), bias);
  }
  Value of_states(int64_t direction) const {
    return select(call[2], 0, direction);
  }
  void add_options(Kwargs&) const {}

  const Call& call;
};

// The same of matrices [directions, features, width] of 8 bits. Scales and zero
// points stand behind the last input, of W and of R, one for each direction or
// for each of its columns.
class QuantisedWeights {
 public:
  QuantisedWeights(const Call& call, const Layer& layer)
      : call_(call), layer_(layer) {
    for (const size_t scale : {kScale, kScale + 2})
      check(scale, layer.directions);
    Call whole = call.with_inputs({Operand(layer.x)});
    x_ = run_row(*find_row({}, "DynamicQuantizeLinear", 11), whole).items;
  }

  Value gates(const Value&, int64_t direction, const Value& bias) const {
    const Value sums =
        function("fxjit.integer_matmul",
                 {x_[0].value, select(call_[1], 0, direction), x_[2].value,
                  select(call_[kScale + 1], 0, direction)});
    const Value real = cast(call_, sums, DType::f32) *
                       (x_[1].value * select(call_[kScale], 0, direction));
    return bias.is_none() ? real : real + bias;
  }
  Value of_states(int64_t direction) const {
    return transpose(select(call_[2], 0, direction), 0, 1);
  }
  // Scales and zero points of the states' weights, one for each column.
  void add_options(Kwargs& options) const {
    ValueList scales, zeros;
    for (int64_t d = 0; d < layer_.directions; ++d) {
      const auto columns = [&](size_t input) {
        return expand(select(call_[input], 0, d),
                      Value::list({4 * layer_.hidden}));
      };
      scales.push_back(columns(kScale + 2));
      zeros.push_back(cast(call_, columns(kScale + 3), DType::f32));
    }
    options.emplace_back("state_scales", Value::list(std::move(scales)));
    options.emplace_back("state_zeros", Value::list(std::move(zeros)));
  }

 private:
  static constexpr size_t kScale = 8;

  static size_t matrix_of(size_t scale) { return scale == kScale ? 1 : 2; }

  // Of a scale and the zero point behind it.
  void check(size_t scale, int64_t directions) const {
    check_scale(call_, scale);
    check_zero_point(call_, scale + 1, call_.dtype(matrix_of(scale)));
    for (const size_t input : {scale, scale + 1}) {
      const SizeList sizes = call_.sizes(input);
      const bool fits = (sizes.size() == 1 || sizes.size() == 2) &&
                        sizes[0].is_int() && sizes[0].as_int() == directions;
      if (!fits)
        call_.fail("input " + std::to_string(input) +
                   ": expected a number for each direction or column");
    }
  }

  const Call& call_;
  const Layer& layer_;
  std::vector<Operand> x_;  // Integers, scale, zero point.
};

template <typename Weights>
Results run_with(const Call& call, const Cell& cell) {
  const Layer layer = read_layer(call, cell);
  const std::vector<std::string> names = names_of(call, layer, cell);
  const Weights factors(call, layer);
  const int64_t width = cell.gates * layer.hidden;
  ValueList gates, weights, biases, peepholes, activations;
  for (int64_t d = 0; d < layer.directions; ++d) {
    const Value bias = call.has(3) ? select(call[3], 0, d) : Value();
    gates.push_back(factors.gates(
        layer.x, d, bias.is_none() ? Value() : narrow(bias, 0, 0, width)));
    weights.push_back(factors.of_states(d));
    if (!bias.is_none()) biases.push_back(narrow(bias, 0, width, width));
    if (cell.gates == 4 && call.has(7))
      peepholes.push_back(select(call[7], 0, d));
  }
  for (const std::string& name : names) activations.push_back(name);
  Kwargs options{
      {"peepholes", Value::list(std::move(peepholes))},
      {"lengths", call.optional(4)},
      {"cell", cell.name},
      {"direction", layer.direction},
      {"activations", Value::list(std::move(activations))},
      {"alphas", factors_of(call, "activation_alpha", names,
                            {"Affine", "LeakyRelu", "ThresholdedRelu",
                             "ScaledTanh", "HardSigmoid", "Elu"})},
      {"betas", factors_of(call, "activation_beta", names,
                           {"Affine", "ScaledTanh", "HardSigmoid"})},
      {"coupled", call.flag("input_forget", false)},
      {"linear_before_reset", call.flag("linear_before_reset", false)},
      {"gate_order", list_of(cell.order)}};
  if (call.has_attribute("clip"))
    options.emplace_back("clip", call.real("clip", 0));
  factors.add_options(options);
  return results_of(
      layer, cell,
      function("fxjit.recurrence",
               {Value::list(std::move(gates)), Value::list(std::move(weights)),
                Value::list(std::move(biases)), layer.h, layer.c},
               options));
}

Results run(const Call& call, const Cell& cell) {
  return run_with<RealWeights>(call, cell);
}

Cell lstm_cell() {
  return {"lstm", 4, {0, 2, 3, 1}, {"Sigmoid", "Tanh", "Tanh"}};
}

Results lstm(Call& call) { return run(call, lstm_cell()); }

Results quantised_lstm(Call& call) {
  return run_with<QuantisedWeights>(call, lstm_cell());
}

Results gru(Call& call) {
  return run(call, {"gru", 3, {1, 0, 2}, {"Sigmoid", "Tanh"}});
}

Results rnn(Call& call) { return run(call, {"rnn", 1, {}, {"Tanh"}}); }

constexpr OpRow kRecurrentOps[] = {
    {.op = "DynamicQuantizeLSTM", .run = quantised_lstm, .domain = kMicrosoft},
    {.op = "GRU", .since = 7, .run = gru},
    {.op = "LSTM", .since = 7, .run = lstm},
    {.op = "RNN", .since = 7, .run = rnn},
};

}  // namespace

std::span<const OpRow> recurrent_rows() { return kRecurrentOps; }

}  // namespace fxjit::onnx
