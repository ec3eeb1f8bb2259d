// ExactInt: an int64 whose arithmetic never wraps. Shape rules, lowerings and
// kernels that calculate with numbers of the user's (sizes, strides, paddings,
// offsets) use it; what does not fit 64 bits, and a division by zero, is a
// RuntimeError.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include "fxjit/error.h"

namespace fxjit::support {

class ExactInt {
 public:
  template <std::integral T>
  ExactInt(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT
  operator int64_t() const { return value_; }                 // NOLINT

 private:
  int64_t value_;
};

template <typename T>
concept ExactOperand = std::same_as<T, ExactInt> || std::integral<T>;
template <typename A, typename B>
concept ExactOperands = ExactOperand<A> && ExactOperand<B> &&
    (std::same_as<A, ExactInt> || std::same_as<B, ExactInt>);

[[noreturn]] inline void throw_inexact(int64_t a, const char* operation,
                                       int64_t b) {
  throw RuntimeError("integer overflow: " + std::to_string(a) + " " +
                     operation + " " + std::to_string(b) +
                     " does not fit 64 bits");
}

template <typename A, typename B>
requires ExactOperands<A, B> ExactInt operator+(A a, B b) {
  const int64_t x = ExactInt(a), y = ExactInt(b);
  int64_t result = 0;
  if (__builtin_add_overflow(x, y, &result)) throw_inexact(x, "+", y);
  return result;
}

template <typename A, typename B>
requires ExactOperands<A, B> ExactInt operator-(A a, B b) {
  const int64_t x = ExactInt(a), y = ExactInt(b);
  int64_t result = 0;
  if (__builtin_sub_overflow(x, y, &result)) throw_inexact(x, "-", y);
  return result;
}

template <typename A, typename B>
requires ExactOperands<A, B> ExactInt operator*(A a, B b) {
  const int64_t x = ExactInt(a), y = ExactInt(b);
  int64_t result = 0;
  if (__builtin_mul_overflow(x, y, &result)) throw_inexact(x, "*", y);
  return result;
}

// Towards zero, as in C++.
template <typename A, typename B>
requires ExactOperands<A, B> ExactInt operator/(A a, B b) {
  const int64_t x = ExactInt(a), y = ExactInt(b);
  if (y == 0 || (x == INT64_MIN && y == -1)) throw_inexact(x, "/", y);
  return x / y;
}

template <typename A, typename B>
requires ExactOperands<A, B> ExactInt operator%(A a, B b) {
  const int64_t x = ExactInt(a), y = ExactInt(b);
  if (y == 0) throw_inexact(x, "%", y);
  return y == -1 ? 0 : x % y;
}

inline ExactInt operator-(ExactInt a) { return 0 - a; }

template <ExactOperand B>
ExactInt& operator+=(ExactInt& a, B b) {
  return a = a + b;
}

template <ExactOperand B>
ExactInt& operator-=(ExactInt& a, B b) {
  return a = a - b;
}

template <ExactOperand B>
ExactInt& operator*=(ExactInt& a, B b) {
  return a = a * b;
}

}  // namespace fxjit::support
