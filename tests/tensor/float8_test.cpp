// Real numbers of 8 bits against arithmetic on doubles, over all their codes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "fxjit/half.h"

namespace fxjit {
namespace TEST_FILE {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A code's number by its fields; 0x7f and, with infinities, what lies above
// 0x7c is NaN.
template <typename T>
double number_of(int code) {
  constexpr bool kInfinite = std::is_same_v<T, Float8E5M2>;
  constexpr int kMantissa = kInfinite ? 2 : 3, kBias = kInfinite ? 15 : 7;
  const int size = code & 0x7f, first = kInfinite ? 0x7c : 0x7f;
  const double sign = code & 0x80 ? -1 : 1;
  if (kInfinite && size == first) return sign * kInfinity;
  if (size >= first) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = size >> kMantissa;
  const int mantissa = size & ((1 << kMantissa) - 1);
  const int least = 1 - kBias - kMantissa;
  return sign * (exponent == 0 ? std::ldexp(mantissa, least)
                               : std::ldexp(mantissa + (1 << kMantissa),
                                            least + exponent - 1));
}

template <typename T>
T of_code(int code) {
  T value;
  value.bits = static_cast<uint8_t>(code);
  return value;
}

template <typename T>
void check_round_trip() {
  for (int code = 0; code < 256; ++code) {
    const float got = static_cast<float>(of_code<T>(code));
    if (std::isnan(number_of<T>(code))) {
      EXPECT_TRUE(std::isnan(got)) << code;
      EXPECT_EQ(T(got).bits, 0x7f | (code & 0x80)) << code;
      continue;
    }
    EXPECT_EQ(double{got}, number_of<T>(code)) << code;
    EXPECT_EQ(T(got).bits, code);
  }
}

// Between two numbers that follow each other, up to half way, the even one of
// both there, and from there on; `last` is the greatest code of a number.
template <typename T>
void check_rounding(int last) {
  for (int code = 0; code < last; ++code) {
    const auto low = static_cast<float>(number_of<T>(code));
    const auto high = static_cast<float>(number_of<T>(code + 1));
    const float half = (low + high) / 2;
    for (const float sign : {1.0f, -1.0f}) {
      const int side = sign < 0 ? 0x80 : 0;
      const auto bits = [&](float x) { return int{T(sign * x).bits}; };
      EXPECT_EQ(bits(std::nextafter(half, 0.0f)), code | side) << low;
      EXPECT_EQ(bits(half), (code + (code & 1)) | side) << low;
      EXPECT_EQ(bits(std::nextafter(half, high)), (code + 1) | side) << low;
    }
  }
}

TEST(Float8, EveryCodeRoundTrips) {
  check_round_trip<Float8E4M3>();
  check_round_trip<Float8E5M2>();
}

TEST(Float8, RoundsToNearestEven) {
  check_rounding<Float8E4M3>(0x7e);
  check_rounding<Float8E5M2>(0x7b);
}

TEST(Float8, BeyondTheGreatest) {
  const auto infinity = static_cast<float>(kInfinity);
  for (const float x : {449.0f, 465.0f, 480.0f, 1e30f, infinity}) {
    EXPECT_EQ(Float8E4M3(x).bits, 0x7e) << x;
    EXPECT_EQ(Float8E4M3(-x).bits, 0xfe) << x;
  }
  EXPECT_EQ(Float8E5M2(61439.0f).bits, 0x7b);
  for (const float x : {61440.0f, 65536.0f, 1e30f, infinity}) {
    EXPECT_EQ(Float8E5M2(x).bits, 0x7c) << x;
    EXPECT_EQ(Float8E5M2(-x).bits, 0xfc) << x;
  }
  EXPECT_EQ(Float8E4M3(1e-40f).bits, 0);
  EXPECT_EQ(Float8E5M2(-1e-40f).bits, 0x80);
}

}  // namespace TEST_FILE
}  // namespace fxjit
