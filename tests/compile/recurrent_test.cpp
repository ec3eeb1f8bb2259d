// Recurrent layers and fxjit.recurrence against double precision
// (recurrent_reference.txt): by the interpreter, and compiled at every CPU
// level with one thread and two.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/made_numbers.h"

namespace fxjit {
namespace TEST_FILE {

using testing::host_levels;
using testing::made_number;
using testing::options_for;
using testing::steps_for;

// Every n-th number is committed where there are twice as many and more.
constexpr size_t kSamples = 32;

struct Expected {
  Dims sizes;
  std::vector<double> samples;
};

struct Case {
  std::string name;
  std::map<std::string, std::string> keys;
  std::vector<Expected> results;

  const std::string& text(const char* key) const { return keys.at(key); }
  bool has(const char* key) const { return keys.contains(key); }
  int64_t number(const char* key, int64_t fallback = 0) const {
    return has(key) ? std::stoll(keys.at(key)) : fallback;
  }
  std::vector<std::string> list(const char* key) const {
    std::vector<std::string> items;
    if (!has(key)) return items;
    std::istringstream parts(keys.at(key));
    for (std::string item; std::getline(parts, item, ',');)
      items.push_back(item);
    return items;
  }
  int64_t gates() const {
    return text("op") == "lstm" ? 4 : text("op") == "gru" ? 3 : 1;
  }
  int64_t width() const { return number("proj", number("hidden")); }

  Tensor made(const std::string& which, const Dims& sizes, double scale) const {
    const Tensor t = Tensor::empty(sizes);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.data_as<float>()[i] = static_cast<float>(
          made_number(name + "." + which, static_cast<uint32_t>(i)) * scale);
    return t;
  }
  double scale() const {
    return 1 / std::sqrt(static_cast<double>(number("hidden")));
  }
};

Case read_case(std::istringstream& line) {
  Case c;
  line >> c.name;
  for (std::string key; line >> key;) {
    const size_t at = key.find('=');
    c.keys[key.substr(0, at)] = key.substr(at + 1);
  }
  return c;
}

Expected read_result(std::istringstream& line) {
  Expected result;
  std::string sizes;
  line >> sizes;
  std::istringstream parts(sizes);
  for (std::string part; std::getline(parts, part, ',');)
    result.sizes.push_back(std::stoll(part));
  for (double value; line >> value;) result.samples.push_back(value);
  return result;
}

std::vector<Case> read_cases() {
  std::ifstream file(FXJIT_SOURCE_DIR
                     "/tests/compile/recurrent_reference.txt");
  std::vector<Case> cases;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (kind == "case")
      cases.push_back(read_case(line));
    else
      cases.back().results.push_back(read_result(line));
  }
  return cases;
}

Tensor counts(const std::vector<std::string>& numbers) {
  std::vector<int64_t> values;
  for (const std::string& number : numbers) values.push_back(std::stoll(number));
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

// A call: its module, and what changes from call to call.
struct Call {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};

ValueList layer_weights(const Case& c) {
  const int64_t hidden = c.number("hidden"), sums = c.gates() * hidden;
  const int64_t sides = 1 + c.number("both");
  ValueList weights;
  const auto add = [&](const Dims& sizes) {
    weights.push_back(
        c.made("w" + std::to_string(weights.size()), sizes, c.scale()));
  };
  for (int64_t i = 0; i < c.number("layers", 1) * sides; ++i) {
    add({sums, i < sides ? c.number("inputs") : c.width() * sides});
    add({sums, c.width()});
    if (c.number("bias", 1)) add({sums}), add({sums});
    if (c.has("proj")) add({c.width(), hidden});
  }
  return weights;
}

Call layers_call(const Case& c) {
  const int64_t sides = 1 + c.number("both"), layers = c.number("layers", 1);
  const int64_t batch = c.number("batch");
  const Value weights = Value::list(layer_weights(c));
  const bool lstm = c.text("op") == "lstm", packed = c.has("packed");
  ValueList inputs;
  const Tensor sizes = packed ? counts(c.list("packed")) : Tensor();
  Dims size{c.number("length"), batch, c.number("inputs")};
  if (c.number("first")) std::swap(size[0], size[1]);
  if (packed) {
    int64_t rows = 0;
    for (int64_t each : sizes.to_ints()) rows += each;
    size = {rows, c.number("inputs")};
  }
  inputs.push_back(c.made("x", size, 1));
  inputs.push_back(c.made("h", {layers * sides, batch, c.width()}, 0.5));
  if (lstm)
    inputs.push_back(
        c.made("c", {layers * sides, batch, c.number("hidden")}, 0.5));
  const std::string name = "torch.ops.aten." + c.text("op") +
                           (packed ? ".data" : ".input");
  const auto call = [=](Value x, Value state) {
    ValueList args{x};
    if (packed) args.push_back(sizes);
    args.insert(args.end(), {state, weights, c.number("bias", 1) != 0, layers,
                             0.0, false, sides == 2});
    if (!packed) args.push_back(c.number("first") != 0);
    return function(name, args);
  };
  if (!lstm) return {fx::symbolic_trace(call, {"x", "h"}), inputs};
  const auto of_two = [=](Value x, Value h, Value cell) {
    return call(x, Value::list({h, cell}));
  };
  return {fx::symbolic_trace(of_two, {"x", "h", "c"}), inputs};
}

Value factors(const Case& c, const char* key) {
  ValueList values;
  for (const std::string& item : c.list(key))
    values.push_back(item == "-" ? Value() : Value(std::stod(item)));
  return Value::list(std::move(values));
}

// Arguments of fxjit.recurrence but for gates and states.
Kwargs recurrence_options(const Case& c) {
  Kwargs options;
  const auto set = [&](const char* name, Value value) {
    options.emplace_back(name, std::move(value));
  };
  ValueList activations;
  for (const std::string& name : c.list("activations"))
    activations.push_back(name);
  set("activations", Value::list(std::move(activations)));
  set("alphas", factors(c, "alphas"));
  set("betas", factors(c, "betas"));
  set("cell", c.text("op"));
  if (c.has("direction")) set("direction", c.text("direction"));
  if (c.has("lengths")) set("lengths", counts(c.list("lengths")));
  if (c.has("clip")) set("clip", std::stod(c.text("clip")));
  if (c.has("order"))
    set("gate_order", Value::list([&] {
          ValueList places;
          for (const std::string& place : c.list("order"))
            places.push_back(static_cast<int64_t>(std::stoll(place)));
          return places;
        }()));
  set("coupled", c.number("coupled") != 0);
  set("linear_before_reset", c.number("before", 1) != 0);
  return options;
}

Call recurrence_call(const Case& c) {
  const int64_t n = c.number("hidden"), batch = c.number("batch");
  const int64_t sides =
      c.has("direction") && c.text("direction") == "bidirectional" ? 2 : 1;
  ValueList inputs, weights, biases, projections, peepholes;
  for (int64_t d = 0; d < sides; ++d) {
    const auto part = [&](const char* which, const Dims& sizes, double by) {
      return c.made(which + std::to_string(d), sizes, by);
    };
    inputs.push_back(
        part("g", {c.number("length"), batch, c.gates() * n}, 2));
    weights.push_back(part("w", {c.gates() * n, c.width()}, c.scale()));
    biases.push_back(part("b", {c.gates() * n}, c.scale()));
    if (c.has("proj"))
      projections.push_back(part("p", {c.width(), n}, c.scale()));
    if (c.number("peepholes")) peepholes.push_back(part("q", {3 * n}, 1));
  }
  if (sides == 1) inputs.push_back(inputs[0]);  // Not read.
  inputs.push_back(c.made("h", {sides, batch, c.width()}, 0.5));
  inputs.push_back(c.made("c", {sides, batch, n}, 0.5));
  Kwargs options = recurrence_options(c);
  options.emplace_back("projections", Value::list(projections));
  options.emplace_back("peepholes", Value::list(peepholes));
  const bool lstm = c.text("op") == "lstm";
  const auto call = [=](Value g, Value g2, Value h, Value cell) {
    ValueList gates{g};
    if (sides == 2) gates.push_back(g2);
    return function("fxjit.recurrence",
                    {Value::list(gates), Value::list(weights),
                     Value::list(biases), h, lstm ? cell : Value()},
                    options);
  };
  return {fx::symbolic_trace(call, {"g", "g2", "h", "c"}), inputs};
}

Call call_of(const Case& c) {
  return c.has("kind") ? recurrence_call(c) : layers_call(c);
}

// What sums of so many terms lose, and functions of them: numbers are at most
// about 1.
double bound_of(const Case& c) {
  const double terms = static_cast<double>(c.number("inputs") + c.width() + 16);
  return terms * std::ldexp(1.0, -24);
}

void expect_results(const Case& c, const Value& got) {
  ASSERT_EQ(got.size(), c.results.size());
  for (size_t i = 0; i < c.results.size(); ++i) {
    const Expected& expected = c.results[i];
    const Tensor t = got.at(i).as_tensor();
    ASSERT_EQ(t.sizes(), expected.sizes);
    const std::vector<float> values = t.to_floats();
    const size_t step = std::max<size_t>(1, values.size() / kSamples);
    for (size_t k = 0; k < expected.samples.size(); ++k)
      ASSERT_NEAR(values[k * step], expected.samples[k],
                  bound_of(c) * std::max(1.0, std::abs(expected.samples[k])))
          << "result " << i << ", element " << k * step;
  }
}

class Recurrent : public ::testing::TestWithParam<Case> {};

TEST_P(Recurrent, InterpretedAsTorch) {
  const Call call = call_of(GetParam());
  expect_results(GetParam(), call.module->forward(call.inputs));
}

TEST_P(Recurrent, CompiledAsTorch) {
  for (CpuLevel level : host_levels())
    for (int threads : {1, 2}) {
      SCOPED_TRACE(std::string(cpu_level_name(level)) + ", " +
                   std::to_string(threads) + " threads");
      const Call call = call_of(GetParam());
      compile(*call.module, options_for(level, threads));
      expect_results(GetParam(), call.module->forward(call.inputs));
      for (const auto& step : steps_for(*call.module, call.inputs))
        EXPECT_TRUE(step.native) << step.label;
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, Recurrent, ::testing::ValuesIn(read_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace TEST_FILE
}  // namespace fxjit
