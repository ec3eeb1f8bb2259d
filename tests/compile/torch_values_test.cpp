// Results on awkward values as torch 2.13 gives them, interpreted and compiled
// for every CPU level: what a comparison of graphs with torch's turned up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using testing::host_levels;
using ::testing::Not;
using testing::options_for;
using testing::value_difference;
using Body = std::function<Value(const Value&, const Value&)>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor numbers(const std::vector<double>& values, DType dtype = DType::f32) {
  const std::vector<float> floats(values.begin(), values.end());
  return Tensor::from(floats, {static_cast<int64_t>(floats.size())}).to(dtype);
}

nn::Ref<fx::GraphModule> trace(const Body& body) {
  return fx::symbolic_trace([body](Value a, Value b) { return body(a, b); },
                            {"a", "b"}, "f");
}

void expect_values(const Body& body, const Tensor& a, const Tensor& b,
                   const Tensor& expected) {
  const auto gm = trace(body);
  EXPECT_EQ(
      value_difference(gm->interpret(ValueList{a, b}), expected, 1e-6, 1e-6),
      "");
  for (const CpuLevel level : host_levels()) {
    compile(*gm, options_for(level));
    EXPECT_EQ(value_difference(gm->forward({a, b}), expected, 1e-6, 1e-6), "")
        << cpu_level_name(level);
    EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter:")));
  }
}

// The interpreter's error, with node and line, whoever found it.
void expect_zero_division(const Body& body, DType dtype) {
  const Tensor a = numbers({5, 7, 3}, dtype);
  const Tensor zeros = numbers({1, 0, 2}, dtype),
               whole = numbers({1, 4, 2}, dtype);
  const auto gm = trace(body);
  for (const CpuLevel level : host_levels()) {
    compile(*gm, options_for(level));
    try {
      gm->forward({a, zeros});
      ADD_FAILURE() << "no error";
    } catch (const RuntimeError& error) {
      EXPECT_THAT(error.what(), HasSubstr("ZeroDivisionError"));
      EXPECT_THAT(error.what(), HasSubstr("torch_values_test.cpp"));
    }
    EXPECT_EQ(value_difference(gm->forward({a, whole}),
                               gm->interpret(ValueList{a, whole}), 0, 0),
              "");
  }
}

TEST(TorchValues, IntegersDividedByZeroAreAnError) {
  for (const DType dtype : {DType::i32, DType::i64, DType::u8}) {
    for (const char* op : {"_operator.floordiv", "_operator.mod", "torch.fmod"})
      expect_zero_division(
          [op](const Value& a, const Value& b) {
            return function(op, {a, b}) + 1;
          },
          dtype);
    for (const char* mode : {"floor", "trunc"})
      expect_zero_division(
          [mode](const Value& a, const Value& b) {
            return function("torch.div", {a, b}, {{"rounding_mode", mode}}) * a;
          },
          dtype);
  }
}

TEST(TorchValues, IntegersDividedByANumberStayInGeneratedCode) {
  const auto gm = trace([](const Value& a, const Value& b) {
    return function("_operator.floordiv", {a, 3}) +
           function("_operator.mod", {b, -4});
  });
  const ValueList inputs{numbers({5, -7, 3}, DType::i64),
                         numbers({5, -7, 0}, DType::i64)};
  compile(*gm, options_for(host_cpu_level()));
  EXPECT_EQ(value_difference(gm->forward(inputs),
                             numbers({-2, -6, 1}, DType::i64), 0, 0),
            "");
  EXPECT_THAT(report(*gm), Not(HasSubstr("eager")));
}

TEST(TorchValues, AcoshBelowOne) {
  const Body acosh = [](const Value& a, const Value&) {
    return function("torch.acosh", {a});
  };
  const Tensor b = numbers({0});
  expect_values(
      acosh, numbers({-1e30, -3e38, -kInf, -5, -0.5, 0, 1, 2, kInf}), b,
      numbers({kNan, kNan, kNan, kNan, kNan, kNan, 0, 1.3169579, kInf}));
  expect_values(
      acosh,
      Tensor::from(std::vector<int64_t>{INT64_MIN, INT32_MIN, -5, 2}, {4}), b,
      numbers({kNan, kNan, kNan, 1.3169579}));
}

TEST(TorchValues, LerpFromTheNearerEnd) {
  const auto lerp = [](double weight) -> Body {
    return [weight](const Value& a, const Value& b) {
      return function("torch.lerp", {a, b, weight});
    };
  };
  const Tensor a = numbers({1, kInf, 1e20, 2}), b = numbers({3, 1, 1, kInf});
  // With a weight of -2 the far end counts: b - (b - a) * 3.
  expect_values(lerp(-2.0), a, b, numbers({-3, kInf, 3e20, kNan}));
  expect_values(lerp(0.25), a, b, numbers({1.5, kNan, 7.5e19, kInf}));
  expect_values(
      [](const Value& x, const Value& y) {
        return function("torch.lerp", {x, y, x});
      },
      numbers({-2, -0.25, 0.75}), numbers({1e8, 4, 4}),
      numbers({-200000006, -1.3125, 3.1875}));
}

// 0.001 is no number of either type.
TEST(TorchValues, HalfTypesAreComparedInTheirType) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor x = numbers({0.001, 0.3, 1e6, -0.001, kNan}, dtype);
    const auto check = [&](const char* op, double number,
                           const std::vector<double>& expected) {
      expect_values(
          [op, number](const Value& a, const Value&) {
            return function(op, {a, number});
          },
          x, x, numbers(expected, DType::boolean));
    };
    check("_operator.ge", 0.001, {1, 1, 1, 0, 0});
    check("_operator.eq", 0.001, {1, 0, 0, 0, 0});
    check("_operator.ne", 0.3, {1, 0, 1, 1, 1});
    check("_operator.lt", 0.3, {1, 0, 0, 1, 0});
    check("torch.gt", 1e6, {0, 0, 0, 0, 0});
    check("_operator.le", -0.001, {0, 0, 0, 1, 0});
  }
}

TEST(TorchValues, CastsToHalfTypesRound) {
  const Tensor x = numbers({1.00390625, -2.115, 1e-8, 70000, kInf, kNan});
  const auto there_and_back = [](DType type) {
    return [type](const Value& a, const Value&) {
      return method(method(a, "to", {type}), "float");
    };
  };
  expect_values(
      there_and_back(DType::bf16), x, x,
      numbers({1, -2.109375, 1.0011717677116394e-08, 70144, kInf, kNan}));
  expect_values(there_and_back(DType::f16), x, x,
                numbers({1.00390625, -2.115234375, 0, kInf, kInf, kNan}));
  expect_values(  // What is lost, beside the value itself.
      [](const Value& a, const Value&) {
        return method(method(a, "bfloat16"), "float") - a;
      },
      numbers({1.00390625, -2.115}), x, numbers({-0.00390625, 0.005625}));
}

TEST(TorchValues, NumbersHaveNoDimToRepeat) {
  for (const int64_t count : {0, 1, 3}) {
    const auto gm = trace([count](const Value& a, const Value&) {
      return function("torch.repeat_interleave", {a, count}, {{"dim", -1}}) + 1;
    });
    const ValueList inputs{Tensor::full({}, 2), Tensor::full({}, 2)};
    EXPECT_THROW(gm->interpret(inputs), IndexError);
    compile(*gm, options_for(host_cpu_level()));
    EXPECT_THROW(gm->forward(inputs), IndexError);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
