// Element types of tensors and the promotion rules between them, as PyTorch's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fxjit {

enum class DType : uint8_t {
  f32,
  f64,
  f16,
  bf16,
  i8,
  u8,
  i16,
  i32,
  i64,
  boolean,
  c64,     // Two f32: real and imaginary part.
  c128,    // Two f64.
  f8e4m3,  // 4 bits of exponent, NaN but no infinity: torch's float8_e4m3fn.
  f8e5m2,  // 5 bits of exponent.
};

inline constexpr int kDTypeCount = 14;

// Size of one element in bytes.
size_t dtype_size(DType dtype);

// torch's name without the prefix: "float32", "bool", ...
std::string_view dtype_name(DType dtype);

// Accepts torch's names and aliases ("float32", "float", "torch.float32").
std::optional<DType> dtype_from_name(std::string_view name);

bool is_floating(DType dtype);
bool is_float8(DType dtype);
bool is_integral(DType dtype);  // Not bool.
bool is_complex(DType dtype);
DType part_type(DType dtype);  // f32 of c64, f64 of c128; others themselves.

// Result type of two tensors of equal category rank (torch.promote_types). As
// in torch, a float8 type has none with any other type: RuntimeError.
DType promote_types(DType a, DType b);

}  // namespace fxjit
