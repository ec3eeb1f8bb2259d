#include "fxjit/half.h"

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

}  // namespace fxjit
