// Products of 8-bit integers in compiled modules, held against whole sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;

// Numbers of which all kinds saturate 16 bits somewhere: any, the largest, the
// least, the two in turns.
enum class Fill : uint8_t { any, most, least, both };

Tensor bytes(DType dtype, const Dims& sizes, Fill fill, uint32_t seed) {
  Tensor t = Tensor::empty(sizes, dtype);
  std::mt19937 random(seed);
  const int low = dtype == DType::u8 ? 0 : -128, high = low + 255;
  for (int64_t i = 0; i < t.numel(); ++i) {
    const int any = low + static_cast<int>(random() % 256);
    const int end = random() % 2 ? low : high;
    const int number = fill == Fill::any     ? any
                       : fill == Fill::most  ? high
                       : fill == Fill::least ? low
                                             : end;
    t.data_as<uint8_t>()[i] = static_cast<uint8_t>(number);
  }
  return t;
}

int64_t number(const Tensor& t, int64_t i) {
  return t.dtype() == DType::u8 ? int64_t{t.data_as<uint8_t>()[i]}
                                : int64_t{t.data_as<int8_t>()[i]};
}

// The zero points are one number, or one for each row and column.
Tensor whole_sums(const Tensor& x, const Tensor& w, const Tensor* p,
                  const Tensor* q) {
  const int64_t rows = x.size(0), depth = x.size(1), columns = w.size(1);
  const Tensor sums = Tensor::empty({rows, columns}, DType::i32);
  const auto zero = [](const Tensor* z, int64_t i) {
    return z == nullptr ? 0 : number(*z, z->numel() == 1 ? 0 : i);
  };
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      int64_t sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += (number(x, m * depth + k) - zero(p, m)) *
               (number(w, k * columns + n) - zero(q, n));
      sums.data_as<int32_t>()[m * columns + n] = static_cast<int32_t>(sum);
    }
  return sums;
}

Value product(const Value& x, const Value& w, const Value& p = None,
              const Value& q = None) {
  return function("fxjit.integer_matmul", {x, w, p, q});
}

void expect_exact(const nn::Ref<fx::GraphModule>& gm, const ValueList& inputs,
                  const Tensor& wanted) {
  EXPECT_EQ(testing::value_difference(gm->interpret(inputs), wanted, 0, 0), "");
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*gm, testing::options_for(level, threads));
      EXPECT_EQ(testing::value_difference(gm->forward(inputs), wanted, 0, 0),
                "");
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
}

struct Sizes {
  int64_t rows, depth, columns;
};

void expect_sums(const Sizes& sizes, DType left, DType right, Fill fill) {
  const Tensor x = bytes(left, {sizes.rows, sizes.depth}, fill, 1);
  const Tensor w = bytes(right, {sizes.depth, sizes.columns}, fill, 2);
  const auto gm =
      fx::symbolic_trace([&](Value x) { return product(x, w); }, {"x"}, "f");
  SCOPED_TRACE(std::to_string(sizes.rows) + "x" + std::to_string(sizes.depth) +
               "x" + std::to_string(sizes.columns));
  expect_exact(gm, {x}, whole_sums(x, w, nullptr, nullptr));
}

TEST(IntegerProducts, SizesOfAllKinds) {
  for (const Sizes& sizes : {Sizes{1, 1, 1},
                             {2, 3, 5},
                             {7, 4, 4},
                             {8, 16, 16},
                             {9, 17, 33},
                             {16, 64, 20},
                             {17, 65, 18},
                             {40, 100, 70},
                             {33, 771, 250}})
    for (const DType left : {DType::u8, DType::i8})
      for (const DType right : {DType::u8, DType::i8})
        expect_sums(sizes, left, right, Fill::any);
}

// Two products of 255 and 127 do not fit 16 bits.
TEST(IntegerProducts, SumsThatSaturateSixteenBits) {
  for (const Fill fill : {Fill::most, Fill::least, Fill::both})
    for (const DType left : {DType::u8, DType::i8})
      for (const DType right : {DType::u8, DType::i8})
        expect_sums({19, 130, 21}, left, right, fill);
}

// Weights so small that several quads are added in 16 bits.
TEST(IntegerProducts, NarrowWeights) {
  for (const int most : {1, 32, 64}) {
    const Tensor x = bytes(DType::u8, {33, 96}, Fill::most, 1);
    const Tensor w = bytes(DType::i8, {96, 40}, Fill::both, 2);
    for (int64_t i = 0; i < w.numel(); ++i) {
      int8_t& weight = w.data_as<int8_t>()[i];
      weight = static_cast<int8_t>(weight > 0 ? most : -most);
    }
    const auto gm =
        fx::symbolic_trace([&](Value x) { return product(x, w); }, {"x"}, "f");
    expect_exact(gm, {x}, whole_sums(x, w, nullptr, nullptr));
  }
}

TEST(IntegerProducts, ZeroPoints) {
  const Tensor x = bytes(DType::u8, {21, 51}, Fill::any, 1);
  for (const DType right : {DType::u8, DType::i8})
    for (const Fill fill : {Fill::least, Fill::most, Fill::any}) {
      const Tensor w = bytes(right, {51, 30}, Fill::any, 2);
      const Tensor p = bytes(DType::u8, {}, fill, 3);
      const Tensor q = bytes(right, {}, fill, 4);
      const Tensor rows = bytes(DType::u8, {21, 1}, fill, 5);
      const Tensor columns = bytes(right, {30}, fill, 6);
      const auto one = fx::symbolic_trace(
          [&](Value x, Value p) { return product(x, w, p, q); }, {"x", "p"},
          "f");
      expect_exact(one, {x, p}, whole_sums(x, w, &p, &q));
      const auto many = fx::symbolic_trace(
          [&](Value x, Value p) { return product(x, w, p, columns); },
          {"x", "p"}, "f");
      expect_exact(many, {x, rows}, whole_sums(x, w, &rows, &columns));
    }
}

Value dequantized(const Value& x, const Value& scale, const Value& zero) {
  return function("fxjit.dequantize", {x, scale, zero});
}

Value quantized(const Value& x, const Value& scale, const Value& zero) {
  return function("fxjit.quantize", {x, scale, zero, 0, 255, DType::u8});
}

Tensor scalar(float value) { return Tensor::full({}, value); }

Tensor scalar(DType dtype, int value) { return Tensor::full({}, value, dtype); }

// float(sum) * (s * t) + b, quantised: each operation rounded on its own, NaN
// as the least number.
uint8_t requantized(int32_t sum, float factor, float bias, float scale,
                    int zero) {
  const float real = static_cast<float>(sum) * factor + bias;
  if (std::isnan(real)) return 0;
  const float place = std::nearbyint(real / scale) + static_cast<float>(zero);
  return static_cast<uint8_t>(std::clamp(place, 0.0f, 255.0f));
}

Tensor turned(const Tensor& w) {
  const int64_t depth = w.size(0), columns = w.size(1);
  const Tensor made = Tensor::empty({columns, depth}, w.dtype());
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = 0; n < columns; ++n)
      made.data_as<int8_t>()[n * depth + k] =
          w.data_as<int8_t>()[k * columns + n];
  return made;
}

// A linear layer between 8-bit tensors keeps them so. Some of its biases have
// no place among integers.
void expect_linear(const Sizes& sizes) {
  const auto [rows, depth, columns] = sizes;
  const float s = 0.013f, t = 0.0071f, out = 0.21f;
  const Tensor x = bytes(DType::u8, {rows, depth}, Fill::any, 1);
  const Tensor w = bytes(DType::i8, {depth, columns}, Fill::any, 2);
  const Tensor bias = testing::random_tensor({columns});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kFar[] = {kInfinity, -kInfinity, 3e38f, -1e12f, NAN};
  for (int64_t n = 0; n < columns; n += 3)
    bias.data_as<float>()[n] = kFar[n / 3 % std::size(kFar)];
  const Tensor p = scalar(DType::u8, 121);
  // The weight is a parameter, or tracing would dequantise it.
  const auto gm = fx::symbolic_trace(nn::lambda(
      "Model", {"x"},
      [&](nn::Module& self, Value x) {
        const Value real = dequantized(x, scalar(s), p);
        const Value weight = dequantized(self.attr("weight"), scalar(t), None);
        return quantized(nn::functional::linear(real, weight, bias),
                         scalar(out), scalar(DType::u8, 130));
      },
      {{"weight", nn::Parameter(turned(w))}}));
  const Tensor sums = whole_sums(x, w, &p, nullptr);
  const Tensor wanted = Tensor::empty({rows, columns}, DType::u8);
  for (int64_t i = 0; i < wanted.numel(); ++i)
    wanted.data_as<uint8_t>()[i] =
        requantized(sums.data_as<int32_t>()[i], s * t,
                    bias.data_as<float>()[i % columns], out, 130);
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level));
    EXPECT_EQ(testing::value_difference(gm(x), wanted, 0, 0), "")
        << rows << " x " << depth << " x " << columns;
    EXPECT_THAT(report(*gm), HasSubstr("quantize"));
    EXPECT_EQ(testing::steps_for(*gm, ValueList{x}).size(), 1u);
  }
}

// Columns that are whole pairs of groups, and not; rows that fill tiles, and
// not.
TEST(IntegerProducts, LinearOfDequantized) {
  for (const Sizes& sizes : {Sizes{20, 70, 37},
                             {16, 16, 96},
                             {17, 24, 16},
                             {3, 5, 44},
                             {35, 33, 8},
                             {1, 64, 24}})
    expect_linear(sizes);
}

struct Image {
  int64_t batch, channels, size, features, kernel, stride, pad, groups = 1;

  int64_t depth() const { return channels / groups; }
};

Tensor whole_conv(const Image& i, const Tensor& x, const Tensor& w, int p) {
  const int64_t out = (i.size + 2 * i.pad - i.kernel) / i.stride + 1;
  const Tensor sums =
      Tensor::empty({i.batch, i.features, out, out}, DType::i32);
  int32_t* to = sums.data_as<int32_t>();
  for (int64_t n = 0; n < i.batch; ++n)
    for (int64_t o = 0; o < i.features; ++o)
      for (int64_t at = 0; at < out * out; ++at, ++to) {
        int64_t sum = 0;
        for (int64_t d = 0; d < i.depth(); ++d)
          for (int64_t k = 0; k < i.kernel * i.kernel; ++k) {
            const int64_t row = at / out * i.stride + k / i.kernel - i.pad;
            const int64_t column = at % out * i.stride + k % i.kernel - i.pad;
            if (row < 0 || row >= i.size || column < 0 || column >= i.size)
              continue;
            const int64_t c = o / (i.features / i.groups) * i.depth() + d;
            sum += (number(x, ((n * i.channels + c) * i.size + row) * i.size +
                                  column) -
                    p) *
                   number(w, (o * i.depth() + d) * i.kernel * i.kernel + k);
          }
        *to = static_cast<int32_t>(sum);
      }
  return sums;
}

TEST(IntegerProducts, Convolutions) {
  for (const Image& i : {Image{1, 3, 9, 16, 3, 2, 1},
                         {2, 8, 7, 5, 1, 1, 0},
                         {1, 16, 6, 24, 3, 1, 1},
                         {1, 1, 8, 3, 5, 1, 2},
                         {2, 5, 8, 9, 1, 2, 0},
                         {2, 12, 9, 12, 3, 1, 1, 12},
                         {1, 9, 10, 9, 5, 2, 2, 9},
                         {1, 8, 7, 12, 3, 1, 1, 4},
                         {1, 3, 7, 6, 3, 2, 1, 3}}) {
    const Tensor x =
        bytes(DType::u8, {i.batch, i.channels, i.size, i.size}, Fill::any, 1);
    const Tensor w =
        bytes(DType::i8, {i.features, i.depth(), i.kernel, i.kernel},
              i.groups == i.channels ? Fill::both : Fill::any, 2);
    const Dims stride{i.stride, i.stride}, pad{i.pad, i.pad};
    const auto conv = [&](const Value& x, const Value& p) {
      return function("fxjit.integer_conv",
                      {x, w, stride, pad, pad, Dims{1, 1}, i.groups, p});
    };
    const Tensor wanted = whole_conv(i, x, w, 77);
    const Tensor p = scalar(DType::u8, 77);
    expect_exact(
        fx::symbolic_trace([&](Value x) { return conv(x, p); }, {"x"}, "f"),
        {x}, wanted);
    expect_exact(fx::symbolic_trace(conv, {"x", "p"}, "f"), {x, p}, wanted);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
