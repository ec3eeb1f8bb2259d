// From a DType to a C++ type: the one place where element types are listed.
// Used by tensor and op code; conversions between any two element types are
// total (no undefined behaviour on NaN or out-of-range numbers).
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "fxjit/dtype.h"
#include "fxjit/error.h"
#include "fxjit/half.h"

namespace fxjit {

// Throws NotImplementedError that names the dtype.
[[noreturn]] void refuse_complex(DType dtype);

// Calls fn(std::type_identity<T>{}) with the storage type of `dtype`, which is
// not complex: complex tensors are worked on as tensors of their parts.
template <typename Fn>
decltype(auto) visit_dtype(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::f32:
      return fn(std::type_identity<float>{});
    case DType::f64:
      return fn(std::type_identity<double>{});
    case DType::f16:
      return fn(std::type_identity<Half>{});
    case DType::bf16:
      return fn(std::type_identity<BFloat16>{});
    case DType::i8:
      return fn(std::type_identity<int8_t>{});
    case DType::u8:
      return fn(std::type_identity<uint8_t>{});
    case DType::i16:
      return fn(std::type_identity<int16_t>{});
    case DType::i32:
      return fn(std::type_identity<int32_t>{});
    case DType::i64:
      return fn(std::type_identity<int64_t>{});
    case DType::boolean:
      return fn(std::type_identity<bool>{});
    case DType::f8e4m3:
      return fn(std::type_identity<Float8E4M3>{});
    case DType::f8e5m2:
      return fn(std::type_identity<Float8E5M2>{});
    case DType::c64:
    case DType::c128:
      refuse_complex(dtype);
  }
  throw InternalError("visit_dtype: unknown dtype");
}

// Types of 16 and 8 bits that hold real numbers and convert.
template <typename T>
inline constexpr bool is_half_type =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
    std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

// Element types that scalar code computes in: half types as float.
template <typename T>
using ComputeOf = std::conditional_t<is_half_type<T>, float, T>;

constexpr DType compute_dtype(DType dtype) {
  const bool stored = dtype == DType::f16 || dtype == DType::bf16 ||
                      dtype == DType::f8e4m3 || dtype == DType::f8e5m2;
  return stored ? DType::f32 : dtype;
}

template <typename To, typename From>
To float_to_integer(From value) {
  // Narrow types go through int64 and wrap, as x86 hardware and PyTorch do.
  using Wide = std::conditional_t<sizeof(To) < 4, int64_t, To>;
  constexpr From kLimit =
      static_cast<From>(std::numeric_limits<Wide>::max() / 2 + 1) * 2;
  if (!(value >= -kLimit && value < kLimit))
    return static_cast<To>(std::numeric_limits<Wide>::min());
  return static_cast<To>(static_cast<Wide>(value));
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_half_type<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (is_half_type<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_integral_v<To> &&
                       std::is_floating_point_v<From>) {
    return float_to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace fxjit
