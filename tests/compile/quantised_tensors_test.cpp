// Quantised tensors in compiled modules: 8-bit numbers are those of the
// interpreter, bit for bit, whatever patterns make of their calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kNumbers = 256;

Tensor number_of(float value) { return Tensor::full({}, value); }
Tensor number_of(DType dtype, int value) {
  return Tensor::full({}, value, dtype);
}

// All numbers of the type, `times` after one another.
Tensor all_bytes(DType dtype, int64_t times) {
  const Tensor t = Tensor::empty({times, kNumbers}, dtype);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_as<uint8_t>()[i] = static_cast<uint8_t>(i);
  return t;
}

struct Scaling {
  float scale;
  int zero;
  DType dtype = DType::u8;
};

Value dequantized(const Value& x, const Scaling& by) {
  return function("fxjit.dequantize",
                  {x, number_of(by.scale), number_of(by.dtype, by.zero)});
}

Value quantized(const Value& x, const Scaling& by) {
  const int low = by.dtype == DType::u8 ? 0 : -128;
  return function("fxjit.quantize",
                  {x, number_of(by.scale), number_of(by.dtype, by.zero), low,
                   low + 255, by.dtype});
}

using Graph = nn::Ref<fx::GraphModule>;

Graph traced(const std::function<Value(Value)>& fn) {
  return fx::symbolic_trace(fn, {"x"}, "f");
}

void expect_same(const Graph& gm, const Tensor& x) {
  const Value wanted = gm->interpret(ValueList{x});
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level));
    EXPECT_EQ(testing::value_difference(gm(x), wanted, 0, 0), "");
  }
}

// An integer is found again behind a product with its scale and a quotient.
TEST(QuantisedTensors, StayWhatTheyAre) {
  for (const float scale : {1.0f, 0.013f, 1e-30f, 1.2e-38f, 3e35f, 7.77e-5f})
    for (const DType dtype : {DType::u8, DType::i8})
      for (const int zero : {0, 3, 127}) {
        const Scaling by{scale, zero, dtype};
        const Tensor x = all_bytes(dtype, 2);
        const Graph gm =
            traced([&](Value x) { return quantized(dequantized(x, by), by); });
        EXPECT_EQ(
            testing::value_difference(gm->interpret(ValueList{x}), x, 0, 0),
            "");
        expect_same(gm, x);
        EXPECT_TRUE(testing::steps_for(*gm, ValueList{x}).size() <= 1u);
      }
}

// Not where a number is lost on the way, or another scale is meant.
TEST(QuantisedTensors, AreQuantisedAgain) {
  const Tensor x = all_bytes(DType::u8, 2);
  for (const Scaling& by : {Scaling{2e36f, 3}, {1e-45f, 3}, {0.5f, 3}})
    expect_same(traced([&](Value x) {
                  const Scaling other{0.25f, 3};
                  return quantized(dequantized(x, by),
                                   by.scale == 0.5f ? other : by);
                }),
                x);
}

TEST(QuantisedTensors, ViewsAreOfTheIntegers) {
  const Scaling by{0.03f, 121};
  const Tensor x = all_bytes(DType::u8, 4);
  const Graph gm = traced([&](Value x) {
    Value y = reshape(dequantized(x, by), {2, 8, 64});
    y = permute(dequantized(quantized(y, by), by), {0, 2, 1});
    return quantized(relu(dequantized(quantized(y, by), by)), {0.02f, 0});
  });
  expect_same(gm, x);
  EXPECT_EQ(testing::steps_for(*gm, ValueList{x}).size(), 1u);
}

// A chain of activations is one table; small tensors are computed.
TEST(QuantisedTensors, ActivationsAreTables) {
  for (const DType dtype : {DType::u8, DType::i8}) {
    const Scaling in{0.031f, dtype == DType::u8 ? 128 : -3, dtype};
    const Scaling inner{0.0078f, 128}, out{0.017f, 10, dtype};
    const Graph gm = traced([&](Value x) {
      const Value real = dequantized(x, in);
      const Value shape =
          dequantized(quantized(erf(real / 1.41421f), inner), inner);
      return quantized(real * (shape + 1.0) * 0.5, out);
    });
    const Tensor x = all_bytes(dtype, 21);
    expect_same(gm, x);
    EXPECT_THAT(report(*gm), HasSubstr("lookup"));
    expect_same(gm, all_bytes(dtype, 1));
    EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
  }
}

// ... of f32 as well, where others read what stands inside.
TEST(QuantisedTensors, TablesOfFloats) {
  const Scaling in{0.05f, 100}, out{0.01f, 0};
  const Graph gm = traced([&](Value x) {
    const Value real = dequantized(x, in);
    const Value shape =
        tanh(sigmoid(real) * real + erf(real)) / (exp(real) + 1.0);
    return Value::tuple({shape, quantized(shape, out), real + 1.0});
  });
  expect_same(gm, all_bytes(DType::u8, 17));
  EXPECT_THAT(report(*gm), HasSubstr("lookup"));
}

// Rows of a table are dequantised by the numbers of these rows.
TEST(QuantisedTensors, PickedRows) {
  const Tensor table = all_bytes(DType::i8, 32);
  const Tensor one = testing::random_tensor({1, 1});
  const Tensor each = testing::random_tensor({32, 1});
  const Tensor places = Tensor::from(std::vector<int64_t>{3, 31, 0, 3}, {2, 2});
  for (const Tensor& scale : {one, each}) {
    const Graph gm = fx::symbolic_trace(nn::lambda(
        "Model", {"x"},
        [&](nn::Module& self, Value x) {
          return nn::functional::embedding(
              x, function("fxjit.dequantize", {self.attr("table"), scale}));
        },
        {{"table", nn::Parameter(table)}}));
    expect_same(gm, places);
    EXPECT_THAT(report(*gm), HasSubstr("embedding"));
  }
}

TEST(QuantisedTensors, WhatIsNoNumberIsTheLeast) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> numbers{std::nanf(""), infinity, -infinity, 3e38f,
                                   -3e38f,        -0.0f,    0.5f,      1.5f,
                                   2.5f,          -0.5f};
  const Tensor x =
      Tensor::from(numbers, {static_cast<int64_t>(numbers.size())});
  for (const DType dtype : {DType::u8, DType::i8}) {
    const int low = dtype == DType::u8 ? 0 : -128;
    const Scaling by{1.0f, 0, dtype};
    const Graph gm = traced([&](Value x) {
      const Value y = quantized(x, by);
      return Value::tuple({y, dequantized(y, by)});
    });
    expect_same(gm, x);
    const Tensor got = gm(x).at(0).as_tensor().to(DType::i32).contiguous();
    const std::vector<int> wanted{low, low + 255, low, low + 255, low,
                                  0,   0,         2,   2,         0};
    EXPECT_THAT(std::vector<int>(got.data_as<int32_t>(),
                                 got.data_as<int32_t>() + got.numel()),
                ::testing::ElementsAreArray(wanted));
  }
}

// x (w - q) t in double precision.
Tensor real_product(const Tensor& x, const Tensor& w, int zero,
                    const Tensor& scale) {
  const int64_t rows = x.size(0), depth = x.size(1), columns = w.size(0);
  const Tensor out = Tensor::empty({rows, columns}, DType::f32);
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const uint8_t bits = w.data_as<uint8_t>()[n * depth + k];
        const int number =
            w.dtype() == DType::u8 ? int{bits} : static_cast<int8_t>(bits);
        sum += double{x.data_as<float>()[m * depth + k]} * (number - zero);
      }
      out.data_as<float>()[m * columns + n] =
          static_cast<float>(sum * double{scale.data_as<float>()[n]});
    }
  return out;
}

// Weights of float products stay integers, with a scale for each column.
TEST(QuantisedTensors, WeightsOfFloatProducts) {
  const int64_t depth = kNumbers, columns = 37;
  for (const auto& [dtype, zero] :
       {std::pair{DType::i8, 0}, {DType::u8, 128}, {DType::u8, 3}})
    for (const int64_t rows : {1, 5, 16, 70}) {
      const Tensor w = all_bytes(dtype, columns);
      const Tensor scale =
          (testing::random_tensor({columns, 1}) + 3.0).as_tensor();
      const Tensor x = testing::random_tensor({rows, depth});
      const auto gm = fx::symbolic_trace(nn::lambda(
          "Model", {"x"},
          [&](nn::Module& self, Value x) {
            const Value weight =
                function("fxjit.dequantize",
                         {self.attr("weight"), scale, number_of(dtype, zero)});
            return nn::functional::linear(x, weight);
          },
          {{"weight", nn::Parameter(w)}}));
      const Tensor wanted = real_product(x, w, zero, scale);
      for (CpuLevel level : testing::host_levels()) {
        compile(*gm, testing::options_for(level));
        EXPECT_EQ(testing::value_difference(gm(x), wanted, 1e-5, 0.05), "");
        const auto steps = testing::steps_for(*gm, ValueList{x});
        ASSERT_EQ(steps.size(), 1u);
        if (zero != 3) EXPECT_EQ(steps[0].label, "matmul+mul");
      }
    }
}

// As torchao writes it: a cast, a product, a scale; before and after
// torch.export has taken the cast apart, in f32 and in halves.
TEST(QuantisedTensors, CastWeightsStayNarrow) {
  const Tensor w = all_bytes(DType::i8, 1100);
  const Tensor numbers = testing::random_tensor({9, kNumbers});
  const Tensor scale = Tensor::full({1100}, 1.0f);
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (const bool is_aten : {false, true}) {
      const Tensor input = numbers.to(dtype);
      const auto gm = fx::symbolic_trace(nn::lambda(
          "Model", {"x"},
          [&](nn::Module& self, Value x) {
            const Value weight =
                is_aten ? function("torch.ops.aten._to_copy.default",
                                   {self.attr("weight")}, {{"dtype", dtype}})
                        : method(self.attr("weight"), "to", {dtype});
            return matmul(x, transpose(weight, 0, 1)) * scale.to(dtype);
          },
          {{"weight", nn::Parameter(w)}}));
      compile(*gm, testing::quick());
      const bool is_half = dtype != DType::f32;
      const Value wanted = real_product(input.to(DType::f32), w, 0, scale);
      EXPECT_EQ(testing::value_difference(method(gm(input), "to", {DType::f32}),
                                          wanted, is_half ? 1e-2 : 1e-5,
                                          is_half ? 0.5 : 0.05),
                "");
      const auto steps = testing::steps_for(*gm, ValueList{input});
      ASSERT_EQ(steps.size(), is_half ? 2u : 1u);
      EXPECT_THAT(steps.back().label, ::testing::StartsWith("matmul"));
    }
}

}  // namespace TEST_FILE
}  // namespace fxjit
