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
}};

}  // namespace

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
