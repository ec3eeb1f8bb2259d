#include "python/dtypes.h"

#include <array>

#include "fxjit/error.h"

namespace fxjit::python {
namespace {

namespace nb = nanobind;
using nb::dlpack::dtype_code;

struct Type {
  DType dtype;
  dtype_code code;
  uint8_t bits;
};

constexpr std::array<Type, kDTypeCount> kTypes{{
    {DType::f32, dtype_code::Float, 32},
    {DType::f64, dtype_code::Float, 64},
    {DType::f16, dtype_code::Float, 16},
    {DType::bf16, dtype_code::Bfloat, 16},
    {DType::i8, dtype_code::Int, 8},
    {DType::u8, dtype_code::UInt, 8},
    {DType::i16, dtype_code::Int, 16},
    {DType::i32, dtype_code::Int, 32},
    {DType::i64, dtype_code::Int, 64},
    {DType::boolean, dtype_code::Bool, 8},
    {DType::c64, dtype_code::Complex, 64},
    {DType::c128, dtype_code::Complex, 128},
    {DType::f8e4m3, static_cast<dtype_code>(10), 8},
    {DType::f8e5m2, static_cast<dtype_code>(12), 8},
}};

// Types of DLPack by name, and a type that holds their numbers.
struct LackingType {
  int code;
  int bits;
  const char* name;
  const char* instead;
};

constexpr LackingType kLacking[] = {
    {static_cast<int>(dtype_code::UInt), 16, "uint16", "int32"},
    {static_cast<int>(dtype_code::UInt), 32, "uint32", "int64"},
    {static_cast<int>(dtype_code::UInt), 64, "uint64", "int64"},
    {static_cast<int>(dtype_code::Complex), 32, "complex32", "complex64"},
    {static_cast<int>(dtype_code::Float), 128, "longdouble", "float64"},
    {static_cast<int>(dtype_code::Complex), 256, "clongdouble", "complex128"},
    {7, 8, "float8_e3m4", "float32"},
    {8, 8, "float8_e4m3", "float32"},
    {11, 8, "float8_e4m3fnuz", "float32"},
    {13, 8, "float8_e5m2fnuz", "float32"},
    {14, 8, "float8_e8m0fnu", "float32"},
};

}  // namespace

std::string lacking(nb::dlpack::dtype type) {
  for (const LackingType& known : kLacking)
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return std::string(known.name) + ", which fxjit lacks: convert it to " +
             known.instead + " first";
  return "a type of " + std::to_string(type.bits) + " bits (DLPack's code " +
         std::to_string(type.code) +
         "), which fxjit lacks: convert it to float32, int64 or another of "
         "torch's types first";
}

std::optional<DType> dtype_of(nb::dlpack::dtype type) {
  for (const Type& known : kTypes)
    if (static_cast<uint8_t>(known.code) == type.code &&
        known.bits == type.bits && type.lanes == 1)
      return known.dtype;
  return std::nullopt;
}

nb::dlpack::dtype dlpack_type(DType dtype) {
  for (const Type& known : kTypes)
    if (known.dtype == dtype)
      return {static_cast<uint8_t>(known.code), known.bits, 1};
  throw InternalError("python: a dtype without a DLPack type");
}

}  // namespace fxjit::python
