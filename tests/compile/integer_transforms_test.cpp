// Convolutions of 8-bit integers by transforms: the bits of direct sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  int64_t images, channels, features, rows, columns;
  Dims before{1, 1}, after{1, 1};
};

class Bytes {
 public:
  explicit Bytes(uint32_t seed) : random_(seed) {}

  int64_t within(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() %
                                      static_cast<uint32_t>(high - low + 1));
  }

  // Any bytes, or the least and the greatest ones.
  Tensor numbers(DType dtype, const Dims& sizes, bool extreme = false) {
    const uint8_t least = dtype == DType::u8 ? 0 : 0x80;
    Tensor t = Tensor::empty(sizes, dtype);
    for (int64_t i = 0; i < t.numel(); ++i) {
      const auto bits = static_cast<uint8_t>(random_() >> 7);
      t.data_as<uint8_t>()[i] =
          extreme ? static_cast<uint8_t>(bits & 1 ? least : least ^ 0xff)
                  : bits;
    }
    return t;
  }

 private:
  std::mt19937 random_;
};

nn::Ref<fx::GraphModule> traced(const Case& c, const Tensor& weight,
                                const Value& zero) {
  return fx::symbolic_trace(
      [&](Value x) {
        return function("fxjit.integer_conv",
                        {x, weight, Dims{1, 1}, c.before, c.after, Dims{1, 1},
                         1, zero, None, None});
      },
      {"x"}, "f");
}

void expect_exact(const Case& c, const Tensor& x, const Tensor& weight,
                  const Value& zero) {
  const auto gm = traced(c, weight, zero);
  const Value wanted = gm->interpret(ValueList{x});
  for (CpuLevel level : testing::host_levels())
    for (const int threads : {1, 3}) {
      compile(*gm, testing::options_for(level, threads));
      EXPECT_EQ(testing::value_difference(gm(x), wanted, 0, 0), "")
          << c.images << " x " << c.channels << " x " << c.rows << " x "
          << c.columns << " to " << c.features;
      EXPECT_THAT(report(*gm), HasSubstr("winograd"));
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
}

TEST(IntegerTransforms, RandomSizes) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    Bytes r(seed);
    const Case c{r.within(1, 2),
                 2 * r.within(16, 50),
                 r.within(24, 90),
                 r.within(16, 25),
                 r.within(16, 25),
                 {r.within(0, 2), r.within(0, 1)},
                 {r.within(0, 1), r.within(0, 2)}};
    const DType dtype = r.within(0, 1) == 0 ? DType::u8 : DType::i8;
    const Tensor zero = r.numbers(dtype, {});
    const Tensor x =
        r.numbers(dtype, {c.images, c.channels, c.rows, c.columns});
    const Tensor weight = r.numbers(DType::i8, {c.features, c.channels, 3, 3});
    expect_exact(c, x, weight, seed % 4 == 0 ? Value() : Value(zero));
  }
}

// As many channels as sums of i32 hold four times over, and all bits set.
TEST(IntegerTransforms, GreatestSums) {
  Bytes r(1);
  const Case c{1, 1826, 24, 14, 15};
  for (const DType dtype : {DType::u8, DType::i8}) {
    const Tensor x = r.numbers(dtype, {1, c.channels, c.rows, c.columns}, true);
    expect_exact(c, x, r.numbers(DType::i8, {24, c.channels, 3, 3}, true),
                 None);
    const Tensor most =
        Tensor::full(x.sizes(), dtype == DType::u8 ? 255 : -128, dtype);
    expect_exact(c, most, Tensor::full({24, c.channels, 3, 3}, -128, DType::i8),
                 None);
  }
}

// Channels of an odd number have no pairs; others are too few, too many, or
// have strides.
TEST(IntegerTransforms, DirectSumsOtherwise) {
  Bytes r(2);
  for (const int64_t channels : {16, 33, 1828}) {
    const Case c{1, channels, 24, 8, 9};
    const Tensor x = r.numbers(DType::u8, {1, channels, 8, 9});
    const auto gm = traced(c, r.numbers(DType::i8, {24, channels, 3, 3}), None);
    const Value wanted = gm->interpret(ValueList{x});
    compile(*gm, testing::options_for(testing::host_levels().back(), 1));
    EXPECT_EQ(testing::value_difference(gm(x), wanted, 0, 0), "");
    EXPECT_THAT(report(*gm), Not(HasSubstr("winograd")));
  }
}

TEST(IntegerTransforms, CanBeDisabled) {
  Bytes r(3);
  const Case c{1, 64, 64, 14, 14};
  const auto gm = traced(c, r.numbers(DType::i8, {64, 64, 3, 3}), None);
  const Tensor x = r.numbers(DType::u8, {1, 64, 14, 14});
  CompileOptions options =
      testing::options_for(testing::host_levels().back(), 1);
  options.convolution = CompileOptions::Convolution::direct;
  compile(*gm, options);
  EXPECT_THAT(report(*gm), Not(HasSubstr("winograd")));
  EXPECT_EQ(testing::value_difference(gm(x), gm->interpret(ValueList{x}), 0, 0),
            "");
}

// The zero point is known to the call alone.
TEST(IntegerTransforms, ZeroPointsOfTheCall) {
  Bytes r(4);
  const Tensor weight = r.numbers(DType::i8, {40, 32, 3, 3});
  const auto gm = fx::symbolic_trace(
      [&](Value x, Value zero) {
        return function("fxjit.integer_conv",
                        {x, weight, Dims{1, 1}, Dims{1, 1}, Dims{1, 1},
                         Dims{1, 1}, 1, zero, None, None});
      },
      {"x", "zero"}, "f");
  const ValueList inputs{r.numbers(DType::u8, {1, 32, 11, 12}),
                         r.numbers(DType::u8, {})};
  compile(*gm, testing::options_for(testing::host_levels().back(), 1));
  EXPECT_EQ(testing::value_difference(gm->forward(inputs),
                                      gm->interpret(inputs), 0, 0),
            "");
  EXPECT_THAT(report(*gm), HasSubstr("winograd"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
