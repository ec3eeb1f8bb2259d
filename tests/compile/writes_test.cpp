// Calls that write their argument: compiled where only its later readers could
// tell, left to the interpreter where others could.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace {

using testing::random_tensor;
using testing::value_difference;
using testing::WarningLog;

Value copy(const Value& input) { return Value(input.as_tensor().clone()); }

// Called twice, on copies: compiled and by the interpreter. Inputs afterwards
// are compared, too. Tells whether native code served.
template <typename Fn>
bool compiled(Fn fn, const ValueList& inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  const auto gm = fx::symbolic_trace(fn, nn::Signature(names), "f");
  compile(*gm, testing::options_for(host_cpu_level()));
  WarningLog log;
  for (int call = 0; call < 2; ++call) {
    ValueList given, known;
    for (const Value& input : inputs) {
      given.push_back(copy(input));
      known.push_back(copy(input));
    }
    const Value got = gm->forward(given), expected = gm->interpret(known);
    EXPECT_EQ(value_difference(got, expected, 1e-5, 1e-6), "");
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ(value_difference(given[i], known[i], 0, 0), "");
  }
  const bool interpreted = report(*gm).find("interpreter") != std::string::npos;
  EXPECT_EQ(log.count("in place"), interpreted ? 1 : 0);
  return !interpreted;
}

ValueList one() { return {random_tensor({3, 4})}; }
ValueList two() {
  return {random_tensor({3, 4}), random_tensor({3, 4}, DType::f32, 2)};
}

TEST(Writes, ToValuesOfTheGraphAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) { return method(method(x * 2, "add_", {1}), "relu_"); },
      one()));
  EXPECT_TRUE(compiled(
      [](Value x, Value y) {
        const Value sum = x + y;
        const Value act = function("F.relu", {sum}, {{"inplace", true}});
        return act * 3;
      },
      two()));
  EXPECT_TRUE(compiled(
      [](Value x, Value y) {
        return method(x * 2, "mul_", {getitem(y, 0)});  // Broadcast.
      },
      two()));
}

TEST(Writes, AreSeenByLaterReaders) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value y = x * 2;
        const Value before = y + 0.5;
        method(y, "add_", {1});
        const Value between = y * y;
        method(y, "neg_");
        return Value::tuple({before, between, y, tanh(y)});
      },
      one()));
}

TEST(Writes, OfEqualValuesStayApart) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        const Value a = relu(x), b = relu(x);  // One node once merged.
        method(a, "add_", {1});
        return a * b;
      },
      one()));
}

TEST(Writes, ThroughViewsThatOthersReadAreInterpreted) {
  EXPECT_FALSE(compiled(
      [](Value x) {
        const Value y = x * 2;
        const Value rows = view(y, {12});
        method(y, "add_", {1});
        return rows * 2;
      },
      one()));
  EXPECT_FALSE(compiled(
      [](Value x) {
        const Value y = x * 2;
        method(getitem(y, 1), "add_", {1});
        return y;
      },
      one()));
  EXPECT_FALSE(compiled(
      [](Value x) {
        const Value y = x * 2;
        const Value same = method(y, "contiguous");
        method(y, "add_", {1});
        return same + y;
      },
      one()));
}

TEST(Writes, ToViewsThatOnlyTheyReadAreCompiled) {
  EXPECT_TRUE(compiled(
      [](Value x) {
        return method(view(x * 2, {12}), "add_", {1}) + 1;
      },
      one()));
}

TEST(Writes, ToInputsAndParametersAreInterpreted) {
  EXPECT_FALSE(
      compiled([](Value x) { return method(x, "add_", {1}) * 2; }, one()));
  EXPECT_FALSE(compiled(
      [](Value x) { return method(view(x, {12}), "mul_", {2}); }, one()));
}

TEST(Writes, KeepTheTypeOfTheirPlace) {
  EXPECT_TRUE(compiled(
      [](Value x, Value y) {
        return method(method(x * 2, "to", {DType::f64}), "add_", {y});
      },
      two()));
}

TEST(Writes, OfLayers) {
  class Act : public nn::Custom<Act, nn::LeafModule> {
   public:
    Act() : Custom("Act", {"x"}) {}
    Value forward(Value x) {
      return function("F.relu", {x}, {{"inplace", true}});
    }
  };
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      conv = register_module("conv", nn::Conv2d::create(3, 8, 3));
      norm = register_module("norm", nn::BatchNorm2d::create(8));
      act = register_module("act", Act::create());
    }
    Value forward(Value x) {
      const Value y = act(norm(conv(x)));
      return act(y + y);
    }
    nn::Ref<nn::Conv2d> conv;
    nn::Ref<nn::BatchNorm2d> norm;
    nn::Ref<Act> act;
  };
  const auto net = Net::create();
  net->eval();
  const auto gm = fx::symbolic_trace(net);
  compile(*gm, testing::options_for(host_cpu_level()));
  const ValueList inputs{random_tensor({2, 3, 8, 8})};
  EXPECT_EQ(value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-5,
                             1e-5),
            "");
  EXPECT_THAT(report(*gm), ::testing::Not(::testing::HasSubstr("interpreter")));
}

}  // namespace
}  // namespace fxjit
