// Recurrent layers that make the product with their inputs themselves, against
// the interpreter in double precision: sequences, lengths, features and hidden
// units at the ends of tiles, panels and blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/inspection.h"
#include "fxjit/nn.h"
#include "src/support/machine/processor.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using testing::host_levels;
using testing::options_for;
using testing::random_tensor;
using testing::steps_for;
using testing::value_difference;

struct Layer {
  std::string op = "lstm";  // Or gru, rnn_tanh, rnn_relu.
  int64_t features = 5, hidden = 20;
  int64_t sides = 1;
  bool biased = true, batch_first = false;

  int64_t gates() const { return op == "lstm" ? 4 : op == "gru" ? 3 : 1; }
  bool lstm() const { return op == "lstm"; }

  Tensor made(const Dims& sizes, uint32_t seed, double scale) const {
    const Tensor t = random_tensor(sizes, DType::f32, seed);
    for (float& x : std::span(t.data_as<float>(), size_t(t.numel())))
      x *= static_cast<float>(scale);
    return t;
  }
  ValueList weights(DType dtype) const {
    ValueList all;
    const double scale = 0.5 / std::sqrt(static_cast<double>(hidden));
    const auto add = [&](const Dims& sizes) {
      const auto seed = static_cast<uint32_t>(all.size() + 10);
      all.push_back(made(sizes, seed, scale).to(dtype));
    };
    for (int64_t d = 0; d < sides; ++d) {
      add({gates() * hidden, features}), add({gates() * hidden, hidden});
      if (biased) add({gates() * hidden}), add({gates() * hidden});
    }
    return all;
  }
  nn::Ref<fx::GraphModule> traced(DType dtype) const {
    const Value all = Value::list(weights(dtype));
    const auto call = [=, *this](Value x, Value state) {
      return function(
          "torch.ops.aten." + op + ".input",
          {x, state, all, biased, 1, 0.0, false, sides == 2, batch_first});
    };
    if (!lstm()) return fx::symbolic_trace(call, {"x", "h"});
    const auto of_two = [=](Value x, Value h, Value c) {
      return call(x, Value::list({h, c}));
    };
    return fx::symbolic_trace(of_two, {"x", "h", "c"});
  }
  ValueList inputs(int64_t length, int64_t batch, DType dtype) const {
    const Dims size = batch_first ? Dims{batch, length, features}
                                  : Dims{length, batch, features};
    ValueList all{made(size, 1, 0.5).to(dtype)};
    for (uint32_t seed : {2u, 3u})
      if (seed == 2 || lstm())
        all.push_back(made({sides, batch, hidden}, seed, 0.5).to(dtype));
    return all;
  }
  // What sums of so many terms lose.
  double bound() const {
    return static_cast<double>(features + hidden + 16) * std::ldexp(1.0, -24);
  }
};

Value wide(const Value& result) {
  ValueList all;
  for (size_t i = 0; i < result.size(); ++i)
    all.push_back(result.at(i).as_tensor().to(DType::f64));
  return Value::tuple(std::move(all));
}

// Compiled once, called with each of the lengths.
void expect_right(const Layer& layer, int64_t batch,
                  std::initializer_list<int64_t> lengths, int threads = 1) {
  const auto exact = layer.traced(DType::f64);
  const auto module = layer.traced(DType::f32);
  compile(*module, options_for(host_cpu_level(), threads));
  for (int64_t length : lengths)
    ASSERT_EQ(
        value_difference(
            wide(module->forward(layer.inputs(length, batch, DType::f32))),
            exact->forward(layer.inputs(length, batch, DType::f64)), 0,
            layer.bound()),
        "")
        << layer.op << ", " << length << " times of " << batch << ", "
        << layer.features << " features, " << layer.hidden << " units";
}

bool joins(const Layer& layer, int64_t length, int64_t batch, int threads = 1) {
  const auto module = layer.traced(DType::f32);
  compile(*module, options_for(host_cpu_level(), threads));
  for (const auto& step :
       steps_for(*module, layer.inputs(length, batch, DType::f32)))
    if (step.label.find("matmul") != step.label.npos) return false;
  return true;
}

TEST(RecurrentInputs, OfSeveralSequences) {
  for (const char* op : {"lstm", "gru", "rnn_tanh", "rnn_relu"}) {
    for (int64_t batch : {1, 2, 3, 4, 5, 6, 7, 16, 17})
      expect_right({.op = op}, batch, {1, 2, 7, 8, 9});
    for (int64_t features : {1, 3, 128, 200})
      for (int64_t hidden : {7, 64})
        expect_right({.op = op, .features = features, .hidden = hidden}, 6,
                     {1, 3});
    expect_right({.op = op, .sides = 2, .batch_first = true}, 5, {4, 9});
    expect_right({.op = op, .biased = false}, 5, {4});
    expect_right({.op = op, .sides = 2}, 17, {4, 9}, 2);
  }
}

TEST(RecurrentInputs, OfOneSequence) {
  for (const char* op : {"lstm", "gru", "rnn_tanh", "rnn_relu"}) {
    for (int64_t features : {1, 3, 100, 128, 200, 256, 300})
      expect_right({.op = op, .features = features, .hidden = 120}, 1,
                   {31, 32, 33, 47, 48, 49});
    for (int64_t hidden : {113, 128})
      expect_right({.op = op,
                    .features = 30,
                    .hidden = hidden,
                    .sides = 2,
                    .batch_first = true},
                   1, {32, 40, 65});
    expect_right({.op = op, .hidden = 128, .biased = false}, 1, {35});
    expect_right({.op = op, .hidden = 128, .sides = 2}, 1, {35}, 2);
  }
}

TEST(RecurrentInputs, AreJoinedWhereThatIsFaster) {
  if (host_cpu_level() < CpuLevel::avx512) GTEST_SKIP() << "needs AVX-512";
  const bool faster = !support::host_is_intel();
  const Layer large{.features = 100, .hidden = 128};
  EXPECT_EQ(joins(large, 8, 16), faster);
  EXPECT_EQ(joins(large, 1, 4), faster);
  EXPECT_FALSE(joins(large, 8, 3));
  EXPECT_FALSE(joins(large, 8, 7, 2));  // Of which a thread has few.
  EXPECT_EQ(joins(large, 32, 1), faster);
  EXPECT_FALSE(joins(large, 31, 1));
  EXPECT_FALSE(joins({.features = 257, .hidden = 128}, 40, 1));
  EXPECT_FALSE(joins({.features = 5, .hidden = 32}, 40, 1));
  EXPECT_EQ(joins({.features = 100, .hidden = 128, .sides = 2}, 40, 1, 2),
            faster);
}

// With the inputs in the call itself, at every level and in any type, also
// where a contraction would be faster; with lengths and packed.
struct Direct {
  std::string cell;
  int64_t gates;
  Kwargs options = {};
  int64_t hidden = 20, features = 5;

  nn::Ref<fx::GraphModule> traced(DType dtype, bool given_weights) const {
    const auto part = [&](const Dims& sizes, uint32_t seed) {
      return Layer{}.made(sizes, seed, 0.2).to(dtype);
    };
    const Value state = part({gates * hidden, hidden}, 4);
    const Value bias = part({gates * hidden}, 6);
    const Value weights = part({gates * hidden, features}, 5);
    const bool lstm = cell == "lstm";
    Kwargs all = options;
    all.emplace_back("cell", cell);
    const auto call = [=](Value x, Value w, Value h, Value c) {
      Kwargs named = all;
      named.emplace_back("input_weights",
                         Value::list({given_weights ? w : weights}));
      named.emplace_back("input_biases", Value::list({bias}));
      return function("fxjit.recurrence",
                      {Value::list({x}), Value::list({state}), Value::list({}),
                       h, lstm ? c : Value()},
                      named);
    };
    return fx::symbolic_trace(call, {"x", "w", "h", "c"});
  }
  ValueList inputs(const Dims& sizes, int64_t batch, DType dtype) const {
    const auto part = [&](const Dims& dims, uint32_t seed) {
      return Layer{}.made(dims, seed, 0.2).to(dtype);
    };
    return {part(sizes, 1), part({gates * hidden, features}, 5),
            part({1, batch, hidden}, 2), part({1, batch, hidden}, 3)};
  }
};

constexpr std::pair<const char*, int64_t> kCells[] = {
    {"lstm", 4}, {"gru", 3}, {"rnn", 1}};

Kwargs counts(const char* name, std::vector<int64_t> numbers) {
  return {
      {name, Tensor::from(numbers, {static_cast<int64_t>(numbers.size())})}};
}

TEST(RecurrentInputs, OfACall) {
  for (const auto& [cell, gates] : kCells)
    for (CpuLevel level : host_levels())
      for (bool given : {false, true})
        for (const auto& [sizes, options] :
             std::vector<std::pair<Dims, Kwargs>>{
                 {{4, 3, 5}, {}},
                 {{4, 3, 5}, {{"direction", "reverse"}}},
                 {{4, 3, 5}, counts("lengths", {2, 4, 0})},
                 {{6, 5}, counts("batch_sizes", {3, 2, 1})},
                 {{40, 1, 5}, {}}}) {
          const Direct call{cell, gates, options};
          const int64_t batch = sizes.size() == 2 ? Size(3) : sizes[1];
          const auto module = call.traced(DType::f32, given);
          compile(*module, options_for(level, 2));
          EXPECT_EQ(
              value_difference(
                  wide(module->forward(call.inputs(sizes, batch, DType::f32))),
                  call.traced(DType::f64, given)
                      ->forward(call.inputs(sizes, batch, DType::f64)),
                  0, Layer{}.bound()),
              "")
              << cell << " " << cpu_level_name(level) << " " << sizes.str();
        }
}

TEST(RecurrentInputs, OfACallInAnyOrderOfMemory) {
  for (const auto& [cell, gates] : kCells)
    for (int64_t length : {3, 40}) {
      const Direct call{cell, gates};
      const auto module = call.traced(DType::f32, true);
      const auto plain = call.traced(DType::f32, true);
      compile(*module, testing::quick());
      ValueList inputs = call.inputs({length, 1, 5}, 1, DType::f32);
      const ValueList plainly = inputs;
      inputs[0] = random_tensor({1, 5, 2 * length})
                      .as_strided({length, 1, 5}, {2, 1, 2 * length}, 1);
      inputs[0].as_tensor().copy_from(plainly[0].as_tensor());
      EXPECT_EQ(value_difference(module->forward(inputs),
                                 plain->forward(plainly), 1e-5, 1e-5),
                "");
    }
}

// What is not a number stays in its sequence, and its time on: padded units and
// blocks bring none.
TEST(RecurrentInputs, KeepNanAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* op : {"lstm", "gru", "rnn_tanh"})
    for (const auto& [length, batch] : {std::pair{6, 5}, {40, 1}})
      for (float value : {inf, -inf, nan}) {
        const Layer layer{.op = op, .features = 5, .hidden = 117};
        const auto module = layer.traced(DType::f32);
        const auto plain = layer.traced(DType::f32);
        compile(*module, testing::quick());
        const ValueList inputs = layer.inputs(length, batch, DType::f32);
        inputs[0].as_tensor().data_as<float>()[(length - 2) * batch * 5 + 3] =
            value;
        EXPECT_EQ(value_difference(module->forward(inputs),
                                   plain->forward(inputs), 1e-4, 1e-4),
                  "")
            << op << " " << value;
      }
}

// Where a layer is all routine, another length needs no code.
TEST(RecurrentInputs, AnotherLengthNeedsNoCode) {
  if (host_cpu_level() < CpuLevel::avx512 || support::host_is_intel())
    GTEST_SKIP() << "below AVX-512, and on Intel's processors, the product "
                    "with the inputs is a kernel";
  for (int64_t batch : {1, 16}) {
    const Layer layer{.features = 30, .hidden = 128};
    const auto module = layer.traced(DType::f32);
    compile(*module, testing::quick());
    for (int64_t length : {40, 41, 33}) {
      const ValueList inputs = layer.inputs(length, batch, DType::f32);
      module->forward(inputs);
      EXPECT_TRUE(inspect(*module, inputs, {.calls = 1}).kernels.empty())
          << length;
    }
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
