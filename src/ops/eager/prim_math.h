// Scalar meaning of the primitives, one element at a time. Integer arithmetic
// wraps; floats follow C and, where C differs, PyTorch.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "fxjit/error.h"

namespace fxjit::ops::prim {

template <typename T>
using Wrapping =
    std::make_unsigned_t<std::conditional_t<(sizeof(T) < sizeof(int)), int, T>>;

[[noreturn]] inline void zero_division() {
  throw RuntimeError("ZeroDivisionError");
}

template <typename T>
T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>)
    return static_cast<T>(a + b);
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) +
                          static_cast<Wrapping<T>>(b));
}

template <typename T>
T sub(T a, T b) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>)
    return static_cast<T>(a - b);
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) -
                          static_cast<Wrapping<T>>(b));
}

template <typename T>
T mul(T a, T b) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>)
    return static_cast<T>(a * b);
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) *
                          static_cast<Wrapping<T>>(b));
}

template <typename T>
T neg(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return -a;
  else
    return sub(T{}, a);
}

template <typename T>
T abs(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a);
  else if constexpr (std::is_signed_v<T>)
    return a < 0 ? neg(a) : a;
  else
    return a;
}

// C division; the one overflowing quotient wraps.
template <typename T>
T div(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) zero_division();
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return neg(a);
    return static_cast<T>(a / b);
  }
}

template <typename T>
T fmod(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) zero_division();
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
}

template <typename T>
T remainder(T a, T b) {
  const T rest = fmod(a, b);
  if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>)
    if (rest != 0 && (rest < 0) != (b < 0)) return add(rest, b);
  return rest;
}

template <typename T>
T floor_div(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 0) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T{0}, a / b);
    const T whole = std::floor(quotient);
    return quotient - whole > T{0.5} ? whole + 1 : whole;
  } else {
    const T quotient = div(a, b);
    if constexpr (std::is_signed_v<T>)
      if (b != -1 && a % b != 0 && (a < 0) != (b < 0)) return quotient - 1;
    return quotient;
  }
}

template <typename T>
T pow(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else {
    if constexpr (std::is_signed_v<T>)
      if (b < 0) {
        if (a == 1) return 1;
        if (a == -1) return b % 2 == 0 ? 1 : -1;
        return 0;
      }
    T result = 1;
    for (; b != 0; b = static_cast<T>(b >> 1)) {
      if (b & 1) result = mul(result, a);
      a = mul(a, a);
    }
    return result;
  }
}

template <typename T>
T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return a;
  return b < a || b != b ? b : a;
}

template <typename T>
T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return a;
  return b > a || b != b ? b : a;
}

// Shifts by a negative or too large count push every bit out.
template <typename T>
T shift_left(T a, T b) {
  constexpr int kBits = std::numeric_limits<T>::digits + std::is_signed_v<T>;
  if (b < 0 || b >= kBits) return 0;
  return static_cast<T>(static_cast<Wrapping<T>>(a) << b);
}

template <typename T>
T shift_right(T a, T b) {
  constexpr int kBits = std::numeric_limits<T>::digits + std::is_signed_v<T>;
  if (b < 0 || b >= kBits) return a < 0 ? -1 : 0;
  return static_cast<T>(a >> b);
}

template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <typename T>
T silu(T x) {
  return x / (1 + std::exp(-x));
}

template <typename T>
T gelu(T x) {
  constexpr T kSqrtHalf = static_cast<T>(0.70710678118654752440);
  return T{0.5} * x * std::erfc(-x * kSqrtHalf);
}

template <typename T>
T gelu_tanh(T x) {
  constexpr T kSqrtTwoOverPi = static_cast<T>(0.79788456080286535588);
  constexpr T kCubic = static_cast<T>(0.044715);
  const T inner = kSqrtTwoOverPi * (x + kCubic * x * x * x);
  return T{0.5} * x * (1 + std::tanh(inner));
}

}  // namespace fxjit::ops::prim
