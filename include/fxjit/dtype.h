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
};

inline constexpr int kDTypeCount = 10;

// Size of one element in bytes.
size_t dtype_size(DType dtype);

// torch's name without the prefix: "float32", "bool", ...
std::string_view dtype_name(DType dtype);

// Accepts torch's names and aliases ("float32", "float", "torch.float32").
std::optional<DType> dtype_from_name(std::string_view name);

bool is_floating(DType dtype);
bool is_integral(DType dtype);  // Not bool.

// Result type of two tensors of equal category rank (torch.promote_types).
DType promote_types(DType a, DType b);

}  // namespace fxjit
