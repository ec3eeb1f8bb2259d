#include "fxjit/carried_type.h"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "fxjit/error.h"
#include "fxjit/half.h"

namespace fxjit {
namespace {

struct Facts {
  std::string_view name;
  DType carrier, bits;
};

// By the numbers of CarriedType.
constexpr std::array<Facts, 8> kFacts = {{
    {"", DType::f32, DType::f32},
    {"uint16", DType::i32, DType::i16},
    {"uint32", DType::i64, DType::i32},
    {"uint64", DType::i64, DType::i64},
    {"float8_e4m3fn", DType::f16, DType::u8},
    {"float8_e5m2", DType::f16, DType::u8},
    {"float8_e4m3fnuz", DType::f16, DType::u8},
    {"float8_e5m2fnuz", DType::f16, DType::u8},
}};

const Facts& facts_of(CarriedType type) {
  return kFacts[static_cast<size_t>(type)];
}

void check_type(const Tensor& tensor, DType expected) {
  if (tensor.dtype() != expected)
    throw TypeError("[carried] expected a tensor of " +
                    std::string(dtype_name(expected)) + ", got " +
                    tensor.describe());
}

// `To` keeps the low bits of a number of `From`, or is without a sign and
// wider.
template <typename To, typename From>
Tensor copied(const Tensor& tensor, DType dtype) {
  const Tensor plain = tensor.contiguous();
  const Tensor made = Tensor::empty(plain.sizes(), dtype);
  const auto* const from = static_cast<const From*>(plain.data());
  auto* const to = static_cast<To*>(made.data());
  for (int64_t i = 0; i < plain.numel(); ++i) to[i] = static_cast<To>(from[i]);
  return made;
}

// The layout of a real number of 8 bits: a sign, an exponent, a mantissa.
struct RealLayout {
  int mantissa, bias;
  bool infinite, zero_signed;
};

RealLayout layout_of(CarriedType type) {
  switch (type) {
    case CarriedType::f8e5m2:
      return {2, 15, true, true};
    case CarriedType::f8e4m3fnuz:
      return {3, 8, false, false};
    case CarriedType::f8e5m2fnuz:
      return {2, 16, false, false};
    default:
      return {3, 7, false, true};
  }
}

float number_of(uint8_t code, const RealLayout& layout) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const int magnitude = code & 0x7f, unit = 1 << layout.mantissa;
  const int exponent = magnitude / unit, mantissa = magnitude % unit;
  const int greatest = 0x7f / unit;
  if (!layout.zero_signed && code == 0x80) return kNan;
  const float sign = code < 0x80 ? 1.0f : -1.0f;
  if (layout.infinite && exponent == greatest)
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : kNan;
  if (!layout.infinite && layout.zero_signed && magnitude == 0x7f) return kNan;
  const int least = 1 - layout.bias - layout.mantissa;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), least)
                               : std::ldexp(static_cast<float>(unit + mantissa),
                                            least + exponent - 1));
}

// By the bits of a Half.
using Codes = std::array<uint8_t, 65536>;

std::unique_ptr<const Codes> codes_of(const RealLayout& layout) {
  auto codes = std::make_unique<Codes>();
  codes->fill(layout.zero_signed ? 0x7f : 0x80);
  for (int code = 0; code < 256; ++code) {
    const float number = number_of(static_cast<uint8_t>(code), layout);
    if (!std::isnan(number))
      (*codes)[Half(number).bits] = static_cast<uint8_t>(code);
  }
  if (!layout.zero_signed) (*codes)[Half(-0.0f).bits] = 0;
  return codes;
}

Tensor real_numbers(const Tensor& bits, CarriedType type) {
  const RealLayout layout = layout_of(type);
  const Tensor plain = bits.contiguous();
  const Tensor made = Tensor::empty(plain.sizes(), DType::f16);
  for (int64_t i = 0; i < plain.numel(); ++i)
    made.data_as<Half>()[i] =
        Half(number_of(plain.data_as<uint8_t>()[i], layout));
  return made;
}

Tensor real_codes(const Tensor& carried, CarriedType type) {
  const auto codes = codes_of(layout_of(type));
  const Tensor plain = carried.contiguous();
  const Tensor made = Tensor::empty(plain.sizes(), DType::u8);
  for (int64_t i = 0; i < plain.numel(); ++i)
    made.data_as<uint8_t>()[i] = (*codes)[plain.data_as<Half>()[i].bits];
  return made;
}

}  // namespace

std::string_view carried_name(CarriedType type) { return facts_of(type).name; }

std::optional<CarriedType> carried_type_from_name(std::string_view name) {
  for (size_t i = 1; i < kFacts.size(); ++i)
    if (kFacts[i].name == name) return static_cast<CarriedType>(i);
  return std::nullopt;
}

DType carrier_of(CarriedType type) { return facts_of(type).carrier; }

DType bits_type_of(CarriedType type) { return facts_of(type).bits; }

Tensor carried(const Tensor& bits, CarriedType type) {
  check_type(bits, bits_type_of(type));
  if (type == CarriedType::u16)
    return copied<uint32_t, uint16_t>(bits, DType::i32);
  if (type == CarriedType::u32)
    return copied<uint64_t, uint32_t>(bits, DType::i64);
  return type == CarriedType::u64 ? bits : real_numbers(bits, type);
}

Tensor bits_of(const Tensor& carried, CarriedType type) {
  check_type(carried, carrier_of(type));
  if (type == CarriedType::u16)
    return copied<uint16_t, uint32_t>(carried, DType::i16);
  if (type == CarriedType::u32)
    return copied<uint32_t, uint64_t>(carried, DType::i32);
  return type == CarriedType::u64 ? carried : real_codes(carried, type);
}

}  // namespace fxjit
