// fxjit::check where all agree, of layers, writes and numbers; what it says of
// other runtimes, and what it refuses.
#include "fxjit/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/nn.h"
#include "src/check/check.h"
#include "tests/check/planted.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using namespace testing;  // Of this folder, not of GoogleTest.
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Net : public nn::Custom<Net> {
 public:
  Net() : Custom("Net", {"x"}) {
    first = register_module("first", nn::Linear::create(16, 32));
    norm = register_module("norm", nn::LayerNorm::create(32));
    last = register_module("last", nn::Linear::create(32, 4));
  }
  Value forward(Value x) { return last(F::gelu(norm(first(x)))); }

  nn::Ref<nn::Linear> first, last;
  nn::Ref<nn::LayerNorm> norm;
};

TEST(Check, LayersAgree) {
  const auto module = fx::symbolic_trace(Net::create());
  const ValueList inputs{random_numbers({5, 16})};
  const CheckResult result = check(*module, inputs, quick());
  EXPECT_TRUE(result.agrees()) << result.text();
  EXPECT_EQ(result.results, 1u);
  EXPECT_THAT(result.text(), StartsWith("all agree: 1 result; bounds found"));
}

TEST(Check, FaultsBehindLayersAreFound) {
  const auto module = fx::symbolic_trace(Net::create());
  const ValueList inputs{random_numbers({5, 16})};
  const CheckResult result = checking::check_with(*module, inputs, quick(),
                                                  planted("lower", "gelu"));
  ASSERT_TRUE(result.node) << result.text();
  EXPECT_EQ(result.node->report.name, "gelu");
  EXPECT_EQ(result.pass, "lower");
}

// The caller's tensors keep their numbers, and the search looks at all writes.
TEST(Check, WritesReachNoTensorOfTheCaller) {
  const auto module = traced(
      [](Value x) {
        const Value part = narrow(x, 0, 1, 2);
        method(part, "mul_", {2.0});
        return tanh(x) + 1.0;
      },
      1);
  const Tensor x = random_numbers({3, 4});
  const Tensor before = x.clone();
  EXPECT_EQ(check(*module, ValueList{x}, quick()).difference, "");
  const CheckResult result = checking::check_with(
      *module, ValueList{x}, quick(), planted("normalize", "tanh"));
  ASSERT_TRUE(result.node) << result.text();
  EXPECT_EQ(result.node->report.name, "tanh");
  for (int64_t i = 0; i < x.numel(); ++i)
    EXPECT_EQ(x.data_as<float>()[i], before.data_as<float>()[i]);
}

TEST(Check, LargeGraphsAreSearchedByHalves) {
  const auto module = traced(
      [](Value x) {
        for (int i = 0; i < 90; ++i) x = sin(x) + 0.5;
        x = tanh(x);
        for (int i = 0; i < 20; ++i) x = sin(x) * 0.75;
        return x;
      },
      1);
  const CheckResult result =
      checking::check_with(*module, ValueList{random_numbers({6})}, quick(),
                           planted("normalize", "tanh"));
  ASSERT_TRUE(result.node) << result.text();
  EXPECT_EQ(result.node->report.name, "tanh");
  ASSERT_TRUE(result.reduced);
  EXPECT_EQ(result.reduced->graph().str().find("sin"), std::string::npos);
}

// Sums in another order than the interpreter's are no fault of a pass.
TEST(Check, WhatTheCodeDoesIsNoPass) {
  const auto module =
      traced([](Value x) { return sum(exp(x), Value(-1)); }, 1);
  const ValueList inputs{random_numbers({16, 1003})};
  EXPECT_EQ(check(*module, inputs, quick()).difference, "");
  CheckOptions exact = quick();
  exact.tolerance = 0;
  const CheckResult result = check(*module, inputs, exact);
  ASSERT_FALSE(result.agrees());
  EXPECT_FALSE(result.graph_shows_pass) << result.text();
  EXPECT_THAT(result.text(), HasSubstr("first node: %"));
}

TEST(Check, ValuesOfAnotherRuntime) {
  const auto module = traced([](Value x) { return tanh(exp(x)) * 2.0; }, 1);
  const Tensor x = random_numbers({4});
  const Value inner = exp(Value(x));
  ReferenceValues other{"other", {tanh(inner) * 2.0}, {{"exp", inner}}};
  CheckOptions beside = quick();
  beside.reference = &other;
  EXPECT_EQ(check(*module, ValueList{x}, beside).difference, "");
  other.nodes["tanh"] = tanh(inner) + 0.5;
  other.results = {(tanh(inner) + 0.5) * 2.0};
  const CheckResult result = check(*module, ValueList{x}, beside);
  EXPECT_TRUE(result.interpreter_too) << result.text();
  ASSERT_TRUE(result.node);
  EXPECT_EQ(result.node->report.name, "tanh");
  EXPECT_EQ(result.pass, "");
  ASSERT_EQ(result.reduced_inputs.size(), 1u);
  other.results.emplace_back(x);
  EXPECT_THAT(check(*module, ValueList{x}, beside).difference,
              HasSubstr("other gives 2 tensors"));
}

TEST(Check, NumbersAmongTheInputs) {
  const auto module = traced([](Value x, Value n) { return tanh(x * n); }, 2);
  const ValueList inputs{random_numbers({4}), 3};
  EXPECT_EQ(check(*module, inputs, quick()).difference, "");
  const CheckResult result = checking::check_with(*module, inputs, quick(),
                                                  planted("lower", "tanh"));
  EXPECT_THAT(result.text(), HasSubstr("smallest graph: 1 call\n"));
}

TEST(Check, WhatIsWrongWithACall) {
  const auto module = traced([](Value x) { return tanh(x); }, 1);
  CheckOptions wrong = quick();
  wrong.compile.disabled_passes = {"nonsense"};
  const auto text = [&](const CheckOptions& given, ValueList inputs) {
    try {
      check(*module, inputs, given);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text(wrong, {random_numbers({2})}), HasSubstr("unknown pass"));
  EXPECT_THAT(text(quick(), {}), HasSubstr("inputs: expected 1, got 0"));
  CheckOptions negative = quick();
  negative.tolerance = -1;
  EXPECT_THAT(text(negative, {random_numbers({2})}), HasSubstr("tolerance"));
  const auto drawn =
      traced([](Value x) { return F::dropout(x, 0.5, true); }, 1);
  EXPECT_THROW(check(*drawn, ValueList{random_numbers({2})}, quick()),
               UserError);
  EXPECT_THROW(save_reduced(CheckResult{}, "nowhere"), UserError);
}

}  // namespace TEST_FILE
}  // namespace fxjit
