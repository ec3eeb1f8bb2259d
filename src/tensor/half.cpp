#include "fxjit/half.h"

#include "src/tensor/float8_format.h"

namespace fxjit {
namespace {

constexpr uint32_t kFloatInfinity = 0x7f800000u;
constexpr int kMantissaShift = 23 - 10;
constexpr uint32_t kExponentRebias = (127 - 15) << 23;

// Right shift by `count` bits, rounding to nearest, ties to even.
uint32_t round_shift(uint32_t value, int count) {
  const uint32_t half = (1u << (count - 1)) - 1;
  return (value + half + ((value >> count) & 1)) >> count;
}

uint16_t from_float(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (word >> 16) & 0x8000u;
  const uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > kFloatInfinity) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u)  // 65536 and above, infinity included.
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude >= 0x38800000u)  // Normal in half; may round up to infinity.
    return static_cast<uint16_t>(
        sign | round_shift(magnitude - kExponentRebias, kMantissaShift));
  const int shift = 126 - static_cast<int>(magnitude >> 23);
  if (shift > 24) return static_cast<uint16_t>(sign);
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  return static_cast<uint16_t>(sign | round_shift(mantissa, shift));
}

template <Float8Format kFormat>
uint8_t byte_from_float(float value) {
  constexpr int kMantissa = kFormat.mantissa, kBias = kFormat.bias;
  constexpr uint32_t kLimit = std::bit_cast<uint32_t>(kFormat.limit);
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (word >> 24) & 0x80u;
  const uint32_t magnitude = word & 0x7fffffffu;
  const auto code = [&]() -> uint32_t {
    if (magnitude > kFloatInfinity) return kFloat8Nan;
    if (magnitude >= kLimit) return kFormat.beyond;
    if (magnitude >= uint32_t{128 - kBias} << 23)  // Normal.
      return round_shift(magnitude - (uint32_t{127 - kBias} << 23),
                         23 - kMantissa);
    const int shift =
        151 - kBias - kMantissa - static_cast<int>(magnitude >> 23);
    return shift > 24 ? 0
                      : round_shift((magnitude & 0x7fffffu) | 0x800000u, shift);
  };
  return static_cast<uint8_t>(sign | code());
}

Half half_of(uint32_t bits) {
  Half half;
  half.bits = static_cast<uint16_t>(bits);
  return half;
}

}  // namespace

Half::Half(float value) : bits(from_float(value)) {}

Half::operator float() const {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return std::bit_cast<float>(sign | kFloatInfinity |
                                ((magnitude & 0x3ffu) << kMantissaShift));
  if (magnitude >= 0x400u)
    return std::bit_cast<float>(
        sign | ((magnitude << kMantissaShift) + kExponentRebias));
  // Subnormal: an integer multiple of 2^-24.
  const float scaled = static_cast<float>(magnitude) * 0x1p-24f;
  return sign ? -scaled : scaled;
}

Float8E4M3::Float8E4M3(float value)
    : bits(byte_from_float<kFloat8E4M3>(value)) {}

// As a half with the same exponent, which stands for 2^-8 of the number there.
Float8E4M3::operator float() const {
  const uint32_t sign = (bits & 0x80u) << 8, magnitude = bits & 0x7fu;
  if (magnitude == kFloat8Nan)
    return static_cast<float>(half_of(sign | 0x7e00u));
  return static_cast<float>(half_of(sign | magnitude << 7)) * 0x1p8f;
}

Float8E5M2::Float8E5M2(float value)
    : bits(byte_from_float<kFloat8E5M2>(value)) {}

Float8E5M2::operator float() const {
  return static_cast<float>(half_of(uint32_t{bits} << 8));
}

}  // namespace fxjit
