// Results in memory of the caller's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;

nn::Ref<fx::GraphModule> two_results() {
  return fx::symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value sum = exp(x) + y;
        return Value::tuple({sum, transpose(sum * y, 0, 1), x});
      },
      {"x", "y"});
}

std::vector<Tensor> places() {
  return {Tensor::full({4, 16}, 9), Tensor::full({16, 4}, 9),
          Tensor::full({4, 16}, 9)};
}

ValueList inputs() { return {random_tensor({4, 16}), random_tensor({4, 16})}; }

void expect_in_place(fx::GraphModule& gm, const ValueList& args,
                     const std::vector<Tensor>& bound) {
  const Value expected = map_leaves(
      gm.interpret(args),
      [](const Value& leaf) -> Value { return leaf.as_tensor().clone(); });
  const Value result = call_into(gm, args, bound);
  for (size_t i = 0; i < bound.size(); ++i) {
    EXPECT_TRUE(result.at(i).as_tensor().is(bound[i])) << i;
    EXPECT_EQ(value_difference(bound[i], expected.at(i), 1e-6, 1e-6), "") << i;
  }
}

TEST(CallInto, WritesResultsWhereTheCallerSays) {
  const auto gm = two_results();
  expect_in_place(*gm, inputs(), places());  // By the interpreter.
  compile(*gm, quick());
  expect_in_place(*gm, inputs(), places());
}

TEST(CallInto, ComputesStraightIntoDenseMemory) {
  const auto gm = fx::symbolic_trace([](Value x) { return exp(x); }, {"x"});
  compile(*gm, quick());
  const Tensor x = random_tensor({4, 16}), out = Tensor::full({4, 16}, 9);
  const Value other = gm->forward({x});
  const Value result = call_into(*gm, {x}, std::vector{out});
  EXPECT_TRUE(result.as_tensor().is(out));
  EXPECT_EQ(value_difference(out, other, 0, 0), "");
}

TEST(CallInto, TakesAnyStridesAndPlaces) {
  const auto gm = two_results();
  compile(*gm, quick());
  const Tensor wide = Tensor::full({20, 64}, 9);
  expect_in_place(*gm, inputs(),
                  {wide.as_strided({4, 16}, {32, 2}, 1),
                   wide.as_strided({16, 4}, {1, 16}, 256),
                   wide.as_strided({4, 16}, {64, 1}, 515)});
  EXPECT_EQ(wide.at({0, 0}), 9);
  EXPECT_EQ(wide.at({0, 2}), 9);
}

TEST(CallInto, MayOverwriteInputs) {
  const auto gm = two_results();
  compile(*gm, quick());
  const ValueList args = inputs();
  const Tensor x = args[0].as_tensor(), y = args[1].as_tensor();
  expect_in_place(*gm, args, {x, Tensor::empty({16, 4}, DType::f32), y});
  const ValueList again = inputs();
  expect_in_place(*gm, again,
                  {again[1].as_tensor(), Tensor::empty({16, 4}, DType::f32),
                   again[0].as_tensor()});
}

TEST(CallInto, RefusesWhatTheResultDoesNotFit) {
  const auto gm = two_results();
  const auto text = [&](const std::vector<Tensor>& bound) -> std::string {
    try {
      call_into(*gm, inputs(), bound);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  for (int turn = 0; turn < 2; ++turn) {
    auto bound = places();
    bound.pop_back();
    EXPECT_THAT(text(bound),
                HasSubstr("expected 3 outputs to write to, got 2"));
    bound = places();
    bound[1] = Tensor::full({4, 16}, 9);
    EXPECT_THAT(text(bound),
                HasSubstr("output 1: expected memory for float32[16, 4], got "
                          "float32[4, 16]"));
    EXPECT_EQ(bound[0].at({0, 0}), 9);
    bound[1] = bound[0].as_strided({16, 4}, {4, 1}, 0);
    EXPECT_THAT(text(bound),
                HasSubstr("output 1: it shares memory with output"));
    bound[1] = Tensor::full({4}, 9).as_strided({16, 4}, {0, 1}, 0);
    EXPECT_THAT(text(bound), HasSubstr("output 1: its elements share memory"));
    bound[1] = Tensor::meta({16, 4}, DType::f32);
    EXPECT_THAT(text(bound),
                HasSubstr("output 1: expected a tensor with data"));
    compile(*gm, quick());
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
