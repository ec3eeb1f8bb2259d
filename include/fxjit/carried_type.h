// Element types that arrays and files have and tensors of this library lack.
// Their numbers are carried in tensors of another type, which holds them all:
// uint16 in int32, uint32 in int64, uint64 by its bits in int64, real numbers
// of 8 bits without a negative zero in float16, and those of 2 and 4 bits in
// int8, uint8 and float16.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fxjit/tensor.h"

namespace fxjit {

// The real ones as ONNX and PyTorch define them: "fnuz" has no infinities and
// no negative zero; that of 4 bits has no infinities and no NaN.
enum class CarriedType : uint8_t {
  none,
  u16,
  u32,
  u64,
  f8e4m3fnuz,
  f8e5m2fnuz,
  u2,
  i2,
  u4,
  i4,
  f4e2m1
};

// torch's and NumPy's name (that of the package ml_dtypes): "uint16",
// "float8_e4m3fnuz". Empty for `none`.
std::string_view carried_name(CarriedType type);

// By that name. Nothing for other names, those of a DType among them.
std::optional<CarriedType> carried_type_from_name(std::string_view name);

// The type of the tensors that carry it.
DType carrier_of(CarriedType type);

// The type of a tensor's, of the same size, in which the numbers can stand as
// they do in an array of their own type, bit for bit: int16 for uint16. Numbers
// of fewer than 8 bits have a byte each, whose upper bits say nothing.
DType bits_type_of(CarriedType type);

// The numbers of a tensor of bits_type_of(type), as they are carried. A new
// tensor, but for uint64, whose bits stay where they are.
Tensor carried(const Tensor& bits, CarriedType type);

// And back: integers that do not fit the type wrap around, as its arithmetic
// does; real numbers that it lacks become NaN, or the negative zero of float4.
Tensor bits_of(const Tensor& carried, CarriedType type);

// 2 or 4 for the types of which several stand in a byte where they are stored,
// the first one in its lowest bits; 0 for others.
int packed_bits(CarriedType type);

// Numbers of such a type, one by one as tensors of bits_of hold them: `packed`
// is a list of bytes, long enough for `sizes`.
Tensor unpacked(const Tensor& packed, CarriedType type, const Dims& sizes);

}  // namespace fxjit
