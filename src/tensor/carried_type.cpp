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
constexpr std::array<Facts, 11> kFacts = {{
    {"", DType::f32, DType::f32},
    {"uint16", DType::i32, DType::i16},
    {"uint32", DType::i64, DType::i32},
    {"uint64", DType::i64, DType::i64},
    {"float8_e4m3fnuz", DType::f16, DType::u8},
    {"float8_e5m2fnuz", DType::f16, DType::u8},
    {"uint2", DType::u8, DType::u8},
    {"int2", DType::i8, DType::u8},
    {"uint4", DType::u8, DType::u8},
    {"int4", DType::i8, DType::u8},
    {"float4_e2m1fn", DType::f16, DType::u8},
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

// The layout of a real number of up to 8 bits: a sign, an exponent, a mantissa.
struct RealLayout {
  int mantissa, bias;
  bool has_nan = true;  // Or a negative zero in its place.
  int bits = 8;

  int sign() const { return 1 << (bits - 1); }
};

RealLayout layout_of(CarriedType type) {
  switch (type) {
    case CarriedType::f8e4m3fnuz:
      return {3, 8};
    case CarriedType::f4e2m1:
      return {1, 1, false, 4};
    default:
      return {2, 16};
  }
}

float number_of(uint8_t code, const RealLayout& layout) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const int most = layout.sign() - 1, unit = 1 << layout.mantissa;
  const int magnitude = code & most;
  const int exponent = magnitude / unit, mantissa = magnitude % unit;
  if (layout.has_nan && code == layout.sign()) return kNan;
  const float sign = (code & layout.sign()) == 0 ? 1.0f : -1.0f;
  const int least = 1 - layout.bias - layout.mantissa;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), least)
                               : std::ldexp(static_cast<float>(unit + mantissa),
                                            least + exponent - 1));
}

// By the bits of a Half.
using Codes = std::array<uint8_t, 65536>;

std::unique_ptr<const Codes> codes_of(const RealLayout& layout) {
  auto codes = std::make_unique<Codes>();
  codes->fill(static_cast<uint8_t>(layout.sign()));
  for (int code = 0; code < 1 << layout.bits; ++code) {
    const float number = number_of(static_cast<uint8_t>(code), layout);
    if (!std::isnan(number))
      (*codes)[Half(number).bits] = static_cast<uint8_t>(code);
  }
  if (layout.has_nan) (*codes)[Half(-0.0f).bits] = 0;
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

// Integers of `bits` bits in bytes, extended by their sign or by zeros.
Tensor small_integers(const Tensor& from, int bits, DType dtype) {
  const Tensor plain = from.contiguous();
  const Tensor made = Tensor::empty(plain.sizes(), dtype);
  const auto* const codes = static_cast<const uint8_t*>(plain.data());
  auto* const to = static_cast<uint8_t*>(made.data());
  const int most = 1 << bits, sign = dtype == DType::i8 ? most / 2 : 0;
  for (int64_t i = 0; i < plain.numel(); ++i)
    to[i] = static_cast<uint8_t>(((codes[i] & (most - 1)) ^ sign) - sign);
  return made;
}

bool is_small_integer(CarriedType type) {
  return packed_bits(type) > 0 && type != CarriedType::f4e2m1;
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
  if (is_small_integer(type))
    return small_integers(bits, packed_bits(type), carrier_of(type));
  return type == CarriedType::u64 ? bits : real_numbers(bits, type);
}

Tensor bits_of(const Tensor& carried, CarriedType type) {
  check_type(carried, carrier_of(type));
  if (type == CarriedType::u16)
    return copied<uint16_t, uint32_t>(carried, DType::i16);
  if (type == CarriedType::u32)
    return copied<uint32_t, uint64_t>(carried, DType::i32);
  if (is_small_integer(type))
    return small_integers(carried, packed_bits(type), DType::u8);
  return type == CarriedType::u64 ? carried : real_codes(carried, type);
}

int packed_bits(CarriedType type) {
  switch (type) {
    case CarriedType::u2:
    case CarriedType::i2:
      return 2;
    case CarriedType::u4:
    case CarriedType::i4:
    case CarriedType::f4e2m1:
      return 4;
    default:
      return 0;
  }
}

Tensor unpacked(const Tensor& packed, CarriedType type, const Dims& sizes) {
  check_type(packed, DType::u8);
  const int bits = packed_bits(type), each = 8 / bits;
  const Tensor plain = packed.contiguous();
  const Tensor made = Tensor::empty(sizes, DType::u8);
  for (int64_t i = 0; i < made.numel(); ++i)
    made.data_as<uint8_t>()[i] = static_cast<uint8_t>(
        plain.data_as<uint8_t>()[i / each] >> (i % each * bits) &
        ((1 << bits) - 1));
  return made;
}

}  // namespace fxjit
