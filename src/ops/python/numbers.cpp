#include "src/ops/python/numbers.h"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace fxjit::ops::python {
namespace {

__extension__ using Wide = unsigned __int128;

// Two ints, one of them a named size, whose arithmetic gives one.
bool are_named(const Value& a, const Value& b) {
  return (a.is_named_size() || b.is_named_size()) && !a.is_float() &&
         !b.is_float();
}

// Where Python's quotients, rounded down, are those of C++.
bool divides_up(const Value& a, const Value& b) {
  return are_named(a, b) && a.as_size() >= 0 && b.as_size() > 0;
}

// ints(a, b) on two ints, floats(a, b) as soon as one of them is a float.
template <typename Ints, typename Floats>
Value arithmetic(const Value& a, const Value& b, Ints ints, Floats floats) {
  if (a.is_float() || b.is_float()) return floats(a.as_double(), b.as_double());
  return ints(a.as_int(), b.as_int());
}

int64_t product(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) throw_too_large();
  return result;
}

uint64_t magnitude(int64_t value) {
  return value < 0 ? -static_cast<uint64_t>(value)
                   : static_cast<uint64_t>(value);
}

// Rounded once, as Python rounds the quotient of ints of any size: the
// dividend is shifted until the quotient has 64 bits or more, of which the last
// one stands for the remainder.
double quotient(int64_t a, int64_t b) {
  if (a == 0) return b < 0 ? -0.0 : 0.0;
  Wide dividend = magnitude(a);
  const Wide divisor = magnitude(b);
  int shift = 0;
  while (!(dividend >> 127)) {
    dividend <<= 1;
    ++shift;
  }
  Wide bits = dividend / divisor;
  if (dividend % divisor != 0) bits |= 1;
  const double result = std::ldexp(static_cast<double>(bits), -shift);
  return (a < 0) != (b < 0) ? -result : result;
}

double quotient(double a, double b) { return a / b; }

int64_t floor_quotient(int64_t a, int64_t b) {
  if (a == std::numeric_limits<int64_t>::min() && b == -1) throw_too_large();
  const int64_t whole = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? whole - 1 : whole;
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;  // The lowest int has no quotient.
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// With the sign of `b`, also where it is zero.
double floor_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double floor_quotient(double a, double b) {
  const double rest = std::fmod(a, b);
  double whole = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) whole -= 1;
  if (whole == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(whole);
  return whole - floor > 0.5 ? floor + 1 : floor;
}

int64_t int_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (true) {
    if (exponent & 1) result = product(result, base);
    exponent >>= 1;
    if (exponent == 0) return result;
    base = product(base, base);
  }
}

double float_power(double base, double exponent) {
  if (base == 0 && exponent < 0 && std::isfinite(exponent))
    throw ZeroDivisionError("0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      exponent != std::floor(exponent))
    throw ValueError(
        "a negative number to a fractional power is complex, which no value "
        "can be");
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent))
    throw OverflowError("(34, 'Numerical result out of range')");
  return result;
}

// divide(a, b) on two ints, or on two floats as soon as one of them is a float;
// each with its text for a division by zero.
template <typename Fn>
Value division(const Value& a, const Value& b, const char* of_ints,
               const char* of_floats, Fn divide) {
  const bool floats = a.is_float() || b.is_float();
  if (b.as_double() == 0) throw ZeroDivisionError(floats ? of_floats : of_ints);
  return arithmetic(a, b, divide, divide);
}

int64_t shift_count(const Value& count) {
  if (count.as_int() < 0) throw ValueError("negative shift count");
  return count.as_int();
}

}  // namespace

void throw_too_large() {
  throw OverflowError("the result does not fit an int of 64 bits");
}

Value add(const Value& a, const Value& b) {
  if (are_named(a, b)) return a.as_size() + b.as_size();
  return arithmetic(
      a, b,
      [](int64_t x, int64_t y) {
        int64_t result;
        if (__builtin_add_overflow(x, y, &result)) throw_too_large();
        return result;
      },
      [](double x, double y) { return x + y; });
}

Value sub(const Value& a, const Value& b) {
  if (are_named(a, b)) return a.as_size() - b.as_size();
  return arithmetic(
      a, b,
      [](int64_t x, int64_t y) {
        int64_t result;
        if (__builtin_sub_overflow(x, y, &result)) throw_too_large();
        return result;
      },
      [](double x, double y) { return x - y; });
}

Value mul(const Value& a, const Value& b) {
  if (are_named(a, b)) return a.as_size() * b.as_size();
  return arithmetic(a, b, product, [](double x, double y) { return x * y; });
}

Value truediv(const Value& a, const Value& b) {
  return division(a, b, "division by zero", "float division by zero",
                  [](auto x, auto y) { return quotient(x, y); });
}

Value floordiv(const Value& a, const Value& b) {
  if (divides_up(a, b)) return a.as_size() / b.as_size();
  return division(a, b, "integer division or modulo by zero",
                  "float floor division by zero",
                  [](auto x, auto y) { return floor_quotient(x, y); });
}

Value mod(const Value& a, const Value& b) {
  if (divides_up(a, b)) return a.as_size() % b.as_size();
  return division(a, b, "integer modulo by zero", "float modulo",
                  [](auto x, auto y) { return floor_remainder(x, y); });
}

Value pow(const Value& a, const Value& b) {
  if (a.is_float() || b.is_float() || b.as_int() < 0)
    return float_power(a.as_double(), b.as_double());
  return int_power(a.as_int(), b.as_int());
}

Value lshift(const Value& a, const Value& b) {
  const int64_t value = a.as_int(), count = shift_count(b);
  if (value == 0) return 0;
  if (count > 62) {
    if (count == 63 && value == -1) return std::numeric_limits<int64_t>::min();
    throw_too_large();
  }
  return product(value, int64_t{1} << count);
}

Value rshift(const Value& a, const Value& b) {
  return a.as_int() >> std::min<int64_t>(shift_count(b), 63);
}

Value negative(const Value& value) {
  if (value.is_float()) return -value.as_double();
  return sub(0, value);
}

Value positive(const Value& value) {
  return value.is_float() || value.is_named_size() ? value
                                                   : Value(value.as_int());
}

Value absolute(const Value& value) {
  if (value.is_float()) return std::abs(value.as_double());
  const bool below =
      value.is_named_size() ? value.as_size() < 0 : value.as_int() < 0;
  return below ? negative(value) : positive(value);
}

}  // namespace fxjit::ops::python
