// fxjit.recurrence compiled, beside the interpreter: lengths, special numbers,
// types, order of memory, weights of the call, and calls that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using testing::host_levels;
using testing::options_for;
using testing::random_tensor;
using testing::steps_for;
using testing::value_difference;

// One row of gates for each time and sequence.
Tensor drawn_gates(int64_t length, int64_t batch, int64_t units) {
  return random_tensor({length, batch, units}, DType::f32, 7);
}

// fxjit.recurrence of `cell` on gates, states and lengths as inputs.
nn::Ref<fx::GraphModule> traced(const std::string& cell,
                                const Tensor& weights) {
  const auto call = [=](Value gates, Value h, Value c, Value lengths) {
    return function("fxjit.recurrence",
                    {Value::list({gates}), Value::list({weights}),
                     Value::list({}), h, cell == "lstm" ? c : Value()},
                    {{"cell", cell}, {"lengths", lengths}});
  };
  return fx::symbolic_trace(call, {"gates", "h", "c", "lengths"});
}

constexpr std::pair<const char*, int64_t> kCells[] = {
    {"lstm", 4}, {"gru", 3}, {"rnn", 1}};

TEST(Recurrence, LengthsAreNumbersOfTheCall) {
  for (const auto& [cell, gates] : kCells) {
    const Tensor weights = random_tensor({gates * 20, 20}, DType::f32, 3);
    const auto module = traced(cell, weights);
    const auto plain = traced(cell, weights);
    compile(*module, testing::quick());
    ValueList inputs{drawn_gates(6, 5, gates * 20), random_tensor({1, 5, 20}),
                     random_tensor({1, 5, 20}, DType::f32, 2), None};
    for (std::vector<int64_t> lengths : {std::vector<int64_t>{6, 6, 6, 6, 6},
                                         {0, 0, 0, 0, 0},
                                         {1, 6, 0, 3, 6}}) {
      inputs[3] = Tensor::from(lengths, {5});
      EXPECT_EQ(value_difference(module->forward(inputs),
                                 plain->forward(inputs), 1e-4, 1e-4),
                "");
    }
    EXPECT_EQ(steps_for(*module, inputs).size(), 1u);
  }
}

// Zeros that are one zero in memory, as constants are.
TEST(Recurrence, StatesThatAreBroadcastTakeTheSameLoops) {
  for (const auto& [cell, gates] : kCells) {
    const Tensor weights = random_tensor({gates * 20, 20}, DType::f32, 3);
    const Tensor state =
        random_tensor({1}).as_strided({1, 5, 20}, {0, 0, 0}, 0);
    const auto call = [=, cell = std::string(cell)](Value x) {
      return function(
          "fxjit.recurrence",
          {Value::list({x}), Value::list({weights}), Value::list({}), state,
           cell == "lstm" ? Value(state) : Value()},
          {{"cell", cell}});
    };
    const auto module = fx::symbolic_trace(call, {"x"});
    const auto plain = fx::symbolic_trace(call, {"x"});
    compile(*module, testing::quick());
    const ValueList inputs{drawn_gates(6, 5, gates * 20)};
    EXPECT_EQ(value_difference(module->forward(inputs), plain->forward(inputs),
                               1e-4, 1e-4),
              "");
    EXPECT_THAT(make_report(*module).text(),
                ::testing::HasSubstr("recurrent layer"))
        << cell;
  }
}

// strict_sums: a sequence gives the same bits alone and beside others that end
// earlier or later.
TEST(Recurrence, StrictSumsAreThoseOfASequenceAlone) {
  CompileOptions options = testing::quick();
  options.strict_sums = true;
  for (const auto& [cell, gates] : kCells) {
    const auto module =
        traced(cell, random_tensor({gates * 20, 20}, DType::f32, 3));
    compile(*module, options);
    const Tensor x = drawn_gates(6, 7, gates * 20);
    const Tensor h = random_tensor({1, 7, 20});
    const Tensor c = random_tensor({1, 7, 20}, DType::f32, 2);
    const std::vector<int64_t> lengths{6, 1, 4, 6, 3, 5, 2};
    const Value all =
        module->forward({x, h, c, Tensor::from(lengths, {7})}).at(0);
    for (int64_t n = 0; n < 7; ++n) {
      const auto one = [n](const Value& from) {
        return method(narrow(from, 1, n, 1), "contiguous");
      };
      const int64_t length = lengths[static_cast<size_t>(n)];
      const Value alone =
          module->forward({one(narrow(x, 0, 0, length)), one(h), one(c), None})
              .at(0);
      EXPECT_EQ(value_difference(one(narrow(all, 0, 0, length)), alone, 0, 0),
                "")
          << cell << " " << n;
    }
  }
}

// NaN and infinities of one sequence do not reach another.
TEST(Recurrence, KeepsNanAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [cell, gates] : kCells)
    for (CpuLevel level : host_levels()) {
      const Tensor weights = random_tensor({gates * 5, 5}, DType::f32, 3);
      const auto module = traced(cell, weights), plain = traced(cell, weights);
      compile(*module, options_for(level));
      Tensor x = drawn_gates(4, 3, gates * 5);
      const auto set = [&](int64_t t, int64_t n, int64_t u, float value) {
        x.data_as<float>()[(t * 3 + n) * gates * 5 + u] = value;
      };
      set(1, 0, 0, nan);
      for (int64_t g = 0; g < gates; ++g)
        set(2, 1, 5 * g + g, inf), set(2, 1, 5 * g + g + 1, -inf);
      const ValueList inputs{x, random_tensor({1, 3, 5}),
                             random_tensor({1, 3, 5}, DType::f32, 2),
                             Tensor::from(std::vector<int64_t>{4, 4, 4}, {3})};
      const Value got = module->forward(inputs);
      EXPECT_EQ(value_difference(got, plain->forward(inputs), 1e-5, 1e-5), "")
          << cell << ", " << cpu_level_name(level);
      const Tensor y = got.at(0).as_tensor();
      EXPECT_TRUE(std::isnan(y.at({1, 0, 0})));
      for (int64_t u = 0; u < 5; ++u) {
        EXPECT_TRUE(std::isnan(y.at({2, 0, u})));
        EXPECT_FALSE(std::isnan(y.at({3, 2, u})));
      }
    }
}

TEST(Recurrence, TakesAnyTypeAndOrderOfMemory) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const auto& [cell, gates] : kCells) {
      const Tensor weights = random_tensor({gates * 6, 6}, dtype, 3);
      const auto module = traced(cell, weights), plain = traced(cell, weights);
      compile(*module, testing::quick());
      const Tensor wide = random_tensor({3, 4, 2 * gates * 6}, dtype, 5);
      const Tensor x = wide.as_strided({4, 3, gates * 6},
                                       {2 * gates * 6, 8 * gates * 6, 2}, 1);
      const Tensor h =
          random_tensor({6, 3, 1}, dtype).as_strided({1, 3, 6}, {1, 1, 3}, 0);
      const ValueList inputs{x, h, random_tensor({1, 3, 6}, dtype, 2),
                             Tensor::from(std::vector<int64_t>{4, 2, 3}, {3})};
      const ValueList plainly{x.contiguous(), h.contiguous(), inputs[2],
                              inputs[3]};
      EXPECT_EQ(value_difference(module->forward(inputs),
                                 plain->forward(plainly), 1e-2, 1e-2),
                "")
          << cell << " of " << dtype_name(dtype);
    }
}

TEST(Recurrence, EmptyBatchesGiveEmptyResults) {
  for (const auto& [cell, gates] : kCells) {
    const auto module =
        traced(cell, random_tensor({gates * 6, 6}, DType::f32, 3));
    compile(*module, testing::quick());
    const Value got = module->forward(
        {Tensor::zeros({4, 0, gates * 6}), Tensor::zeros({1, 0, 6}),
         Tensor::zeros({1, 0, 6}), Tensor::zeros({0}, DType::i64)});
    EXPECT_EQ(got.at(0).as_tensor().sizes(), (Dims{4, 0, 6}));
    EXPECT_EQ(got.at(1).as_tensor().sizes(), (Dims{1, 0, 6}));
  }
}

// Weights that are inputs are packed by each call.
TEST(Recurrence, TakesWeightsOfTheCall) {
  const auto call = [](Value gates, Value weights, Value h, Value c) {
    return function("fxjit.recurrence",
                    {Value::list({gates, gates}),
                     Value::list({weights, weights}), Value::list({}), h, c},
                    {{"direction", "bidirectional"}});
  };
  const auto module = fx::symbolic_trace(call, {"gates", "weights", "h", "c"});
  const auto plain = fx::symbolic_trace(call, {"gates", "weights", "h", "c"});
  compile(*module, testing::quick());
  for (uint32_t seed : {1u, 2u}) {
    const ValueList inputs{drawn_gates(3, 2, 24),
                           random_tensor({24, 6}, DType::f32, seed),
                           random_tensor({2, 2, 6}), random_tensor({2, 2, 6})};
    EXPECT_EQ(value_difference(module->forward(inputs), plain->forward(inputs),
                               1e-5, 1e-5),
              "");
  }
}

// Weights of 8 bits, with which states are quantised at each time.
Tensor drawn_bytes(int64_t units, int64_t depth, DType dtype) {
  Tensor weights = Tensor::empty({units, depth}, dtype);
  for (int64_t i = 0; i < weights.numel(); ++i)
    weights.data_as<uint8_t>()[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  return weights;
}

TEST(Recurrence, QuantisesStatesForWeightsOfBytes) {
  for (const auto& [cell, gates] : kCells)
    for (DType dtype : {DType::i8, DType::u8})
      for (CpuLevel level : host_levels()) {
        const int64_t units = gates * 21;
        const Tensor weights = drawn_bytes(units, 21, dtype);
        const Tensor scales = Tensor::full({units}, 0.002);
        const Tensor zeros =
            Tensor::full({units}, dtype == DType::u8 ? 128.0 : 1.0);
        const auto call = [=, cell = std::string(cell)](
                              Value x, Value h, Value c, Value lengths) {
          return function("fxjit.recurrence",
                          {Value::list({x}), Value::list({weights}),
                           Value::list({}), h, cell == "lstm" ? c : Value()},
                          {{"cell", cell},
                           {"lengths", lengths},
                           {"state_scales", Value::list({scales})},
                           {"state_zeros", Value::list({zeros})}});
        };
        const auto trace = [&] {
          return fx::symbolic_trace(call, {"x", "h", "c", "lengths"});
        };
        const auto module = trace(), plain = trace();
        compile(*module, options_for(level));
        const ValueList inputs{
            drawn_gates(6, 5, units), random_tensor({1, 5, 21}),
            random_tensor({1, 5, 21}, DType::f32, 2),
            Tensor::from(std::vector<int64_t>{1, 6, 0, 3, 6}, {5})};
        // A state between two steps of 8 bits may be either.
        EXPECT_EQ(value_difference(module->forward(inputs),
                                   plain->forward(inputs), 5e-3, 5e-3),
                  "")
            << cell << ", " << cpu_level_name(level);
        EXPECT_THAT(make_report(*module).text(),
                    ::testing::HasSubstr("recurrent layer"));
      }
}

TEST(Recurrence, RefusesWeightsOfBytesThatDoNotFit) {
  const Tensor x = drawn_gates(4, 2, 6), h = random_tensor({1, 2, 2});
  const Tensor ones = Tensor::full({6}, 1.0),
               bytes = drawn_bytes(6, 2, DType::i8);
  const auto expect = [&](const std::string& words, const Tensor& weights,
                          Kwargs options) {
    options.emplace_back("cell", "gru");
    try {
      function("fxjit.recurrence",
               {Value::list({x}), Value::list({weights}), Value::list({}), h},
               options);
      ADD_FAILURE() << "expected " << words;
    } catch (const RuntimeError& error) {
      EXPECT_THAT(error.message(), ::testing::HasSubstr(words));
    }
  };
  const Value scales = Value::list({ones}), zeros = Value::list({ones});
  expect("expected weights of float32, got int8", bytes, {});
  expect("expected 1 zero points of weights, got 0", bytes,
         {{"state_scales", scales}});
  expect("expected 1 weights of 8 bits beside scales", random_tensor({6, 2}),
         {{"state_scales", scales}, {"state_zeros", zeros}});
  expect("quantised states are multiplied once a time", bytes,
         {{"state_scales", scales},
          {"state_zeros", zeros},
          {"linear_before_reset", false}});
}

// A message that holds these words, by the interpreter and compiled.
void expect_refused(const std::string& words, const ValueList& inputs) {
  for (bool compiled : {false, true}) {
    const auto module = traced("lstm", random_tensor({8, 2}));
    if (compiled) compile(*module, testing::quick());
    try {
      module->forward(inputs);
      ADD_FAILURE() << "expected " << words;
    } catch (const RuntimeError& error) {
      EXPECT_NE(error.message().find(words), std::string::npos)
          << error.message();
    }
  }
}

TEST(Recurrence, RefusesWhatDoesNotFit) {
  const Tensor x = drawn_gates(4, 2, 8), state = random_tensor({1, 2, 2});
  const auto lengths = [](std::vector<int64_t> numbers) {
    return Tensor::from(numbers, {static_cast<int64_t>(numbers.size())});
  };
  const Tensor fitting = lengths({4, 1});
  expect_refused("lengths from 0 to 4, got 5",
                 {x, state, state, lengths({5, 1})});
  expect_refused("lengths from 0 to 4, got -1",
                 {x, state, state, lengths({4, -1})});
  expect_refused("expected lengths of 2 sequences",
                 {x, state, state, lengths({4, 1, 1})});
  expect_refused("expected scalar type Long but found Float",
                 {x, state, state, Tensor::zeros({2})});
  expect_refused("expected gates of size [4, 2, 8], got [4, 2, 9]",
                 {drawn_gates(4, 2, 9), state, state, fitting});
  expect_refused("expected weights of size [8, 3], got [8, 2]",
                 {x, random_tensor({1, 2, 3}), state, fitting});
  expect_refused("expected cell states of size [1, 2, 2], got [1, 3, 2]",
                 {x, state, random_tensor({1, 3, 2}), fitting});
  expect_refused("expected cell states of float32, got float64",
                 {x, state, random_tensor({1, 2, 2}, DType::f64), fitting});
}

}  // namespace TEST_FILE
}  // namespace fxjit
