// Storage types of less than 32 bits for real numbers. They hold bits and
// convert; arithmetic is done in float. Rounding is to nearest, ties to even;
// NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace fxjit {

// IEEE binary16: 1 sign bit, 5 bits of exponent, 10 of mantissa.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};

// bfloat16: the upper half of a float, with 7 bits of mantissa.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(round(value)) {}
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

 private:
  static uint16_t round(float value) {
    uint32_t word = std::bit_cast<uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
    return static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1)) >> 16);
  }
};

// 1 sign bit, 4 bits of exponent, 3 of mantissa. There are no infinities: what
// is beyond the greatest number, 448, becomes that, as in torch. All bits but
// the sign's are set in NaN.
struct Float8E4M3 {
  uint8_t bits = 0;

  Float8E4M3() = default;
  explicit Float8E4M3(float value);
  explicit operator float() const;
};

// The upper half of a Half, with 2 bits of mantissa. What is beyond its
// greatest number, 57344, becomes infinite.
struct Float8E5M2 {
  uint8_t bits = 0;

  Float8E5M2() = default;
  explicit Float8E5M2(float value);
  explicit operator float() const;
};

}  // namespace fxjit
