// Half and bfloat16 against arithmetic on doubles, over every bit pattern.
#include "fxjit/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace fxjit {
namespace TEST_FILE {

// Value of a 16-bit float from its fields, by definition.
double value_of(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits),
                           exponent - bias - mantissa_bits);
}

template <typename T>
void check_round_trip(int exponent_bits, int mantissa_bits) {
  for (int i = 0; i < 0x10000; ++i) {
    T value;
    value.bits = static_cast<uint16_t>(i);
    const double expected = value_of(value.bits, exponent_bits, mantissa_bits);
    const float got = static_cast<float>(value);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << i;
      ASSERT_TRUE(std::isnan(static_cast<float>(T(got)))) << i;
      continue;
    }
    ASSERT_EQ(static_cast<double>(got), expected) << i;
    ASSERT_EQ(T(got).bits, value.bits) << i;
  }
}

// Nothing representable is nearer; at a tie the result is even.
template <typename T>
void check_rounding(int exponent_bits, int mantissa_bits, double largest) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t word = static_cast<uint32_t>(random());
    const float value = std::bit_cast<float>(word);
    if (!std::isfinite(value) || std::abs(value) > largest) continue;
    const T rounded(value);
    const uint16_t up = static_cast<uint16_t>(rounded.bits + 1);
    const uint16_t down = static_cast<uint16_t>(rounded.bits - 1);
    const double got = value_of(rounded.bits, exponent_bits, mantissa_bits);
    const double distance = std::abs(got - value);
    for (uint16_t other : {up, down}) {
      const double beside = value_of(other, exponent_bits, mantissa_bits);
      if (!std::isfinite(beside)) continue;
      const double other_distance = std::abs(beside - value);
      ASSERT_LE(distance, other_distance) << value;
      if (distance == other_distance && beside != got) {
        ASSERT_EQ(rounded.bits & 1, 0) << value;
      }
    }
  }
}

TEST(Half, EveryPatternRoundTrips) { check_round_trip<Half>(5, 10); }
TEST(BFloat16, EveryPatternRoundTrips) { check_round_trip<BFloat16>(8, 7); }

TEST(Half, RoundsToNearestEven) {
  check_rounding<Half>(5, 10, 65504);
  EXPECT_EQ(Half(1.0f + 0x1p-11f).bits, Half(1.0f).bits);
  EXPECT_EQ(Half(1.0f + 3 * 0x1p-11f).bits, Half(1.0f).bits + 2);
  EXPECT_EQ(Half(0x1p-25f).bits, 0);
  EXPECT_EQ(Half(0x1.8p-25f).bits, 1);
}

TEST(BFloat16, RoundsToNearestEven) { check_rounding<BFloat16>(8, 7, 3e38); }

TEST(Half, OverflowsToInfinity) {
  EXPECT_EQ(Half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(-1e30f).bits, 0xfc00);
}

}  // namespace TEST_FILE
}  // namespace fxjit
