#include "tests/jit/prim_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>
#include <stdexcept>

#include "fxjit/half.h"
#include "src/ops/eager/prim_math.h"

namespace fxjit::jit::testing {
namespace {

namespace prim = ops::prim;

template <typename T>
T raw(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

template <typename T>
void put(void* place, T value) {
  std::memcpy(place, &value, sizeof(T));
}

// Wraps to the type's range.
int64_t wrap(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::i8:
      return static_cast<int8_t>(value);
    case DType::u8:
      return static_cast<uint8_t>(value);
    case DType::i16:
      return static_cast<int16_t>(value);
    case DType::i32:
      return static_cast<int32_t>(value);
    case DType::boolean:
      return value != 0;
    default:
      return value;
  }
}

// By formulas other than the interpreter's.
std::optional<double> by_definition(Prim prim, double x) {
  switch (prim) {
    case Prim::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Prim::silu:
      return x / (1 + std::exp(-x));
    case Prim::gelu:
      return x * 0.5 * std::erfc(-x / std::numbers::sqrt2);
    case Prim::gelu_tanh:
      return x * 0.5 *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) *
                            (x + 0.044715 * x * x * x)));
    default:
      return std::nullopt;
  }
}

double unary(Prim prim, double x) {
  if (const auto result = by_definition(prim, x)) return *result;
  switch (prim) {
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_CALL(name, cost) FXJIT_SMOOTH(name, cost, std::name(x))
#define FXJIT_SMOOTH(name, cost, expression) \
  case Prim::name:                           \
    return expression;
#include "fxjit/prims.inc"
    case Prim::neg:
      return -x;
    case Prim::abs:
      return std::fabs(x);
    case Prim::sqrt:
      return std::sqrt(x);
    case Prim::rsqrt:
      return 1 / std::sqrt(x);
    case Prim::floor:
      return std::floor(x);
    case Prim::ceil:
      return std::ceil(x);
    case Prim::round:
      return std::nearbyint(x);
    case Prim::trunc:
      return std::trunc(x);
    default:
      throw std::logic_error(prim_name(prim));
  }
}

double binary(Prim prim, double x, double y) {
  switch (prim) {
    case Prim::add:
      return x + y;
    case Prim::sub:
      return x - y;
    case Prim::mul:
      return x * y;
    case Prim::div:
      return x / y;
    case Prim::pow:
      return std::pow(x, y);
    case Prim::fmod:
      return std::fmod(x, y);
    case Prim::remainder: {
      const double rest = std::fmod(x, y);
      return rest != 0 && std::signbit(rest) != std::signbit(y) ? rest + y
                                                                : rest;
    }
    case Prim::floor_div:
      return y == 0 ? x / y : std::floor(x / y);
    case Prim::minimum:
      return std::isnan(x) || std::isnan(y) ? std::nan("") : std::min(x, y);
    case Prim::maximum:
      return std::isnan(x) || std::isnan(y) ? std::nan("") : std::max(x, y);
    default:
      throw std::logic_error(prim_name(prim));
  }
}

template <typename T>
bool compare(Prim prim, T x, T y) {
  switch (prim) {
    case Prim::eq:
      return x == y;
    case Prim::ne:
      return x != y;
    case Prim::lt:
      return x < y;
    case Prim::le:
      return x <= y;
    case Prim::gt:
      return x > y;
    default:
      return x >= y;
  }
}

// The least number by -1 wraps round, as integers of the kernels do.
int64_t floor_divide(int64_t x, int64_t y) {
  if (y == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  const bool negative = (x < 0) != (y < 0);
  return x / y - (negative && x % y != 0 ? 1 : 0);
}

int64_t power(DType type, int64_t x, int64_t y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  for (int64_t i = 0; i < y; ++i) result *= static_cast<uint64_t>(x);
  return wrap(type, static_cast<int64_t>(result));
}

int64_t shift(Prim prim, DType type, int64_t x, int64_t y) {
  const auto bits = static_cast<int64_t>(8 * dtype_size(type));
  const bool outside = y < 0 || y >= bits;
  if (prim == Prim::shift_left) {
    return outside ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << y);
  }
  return outside ? (x < 0 ? -1 : 0) : x >> y;
}

int64_t integer(Prim prim, DType type, int64_t x, int64_t y) {
  const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  switch (prim) {
    case Prim::add:
      return static_cast<int64_t>(ux + uy);
    case Prim::sub:
      return static_cast<int64_t>(ux - uy);
    case Prim::mul:
      return static_cast<int64_t>(ux * uy);
    case Prim::neg:
      return static_cast<int64_t>(0 - ux);
    case Prim::abs:
      return x < 0 ? static_cast<int64_t>(0 - ux) : x;
    case Prim::div:
      return y == -1 ? static_cast<int64_t>(0 - ux) : x / y;
    case Prim::fmod:
      return y == -1 ? 0 : x % y;
    case Prim::floor_div:
      return floor_divide(x, y);
    case Prim::remainder:
      return static_cast<int64_t>(
          ux - uy * static_cast<uint64_t>(floor_divide(x, y)));
    case Prim::pow:
      return power(type, x, y);
    case Prim::minimum:
      return std::min(x, y);
    case Prim::maximum:
      return std::max(x, y);
    case Prim::bit_and:
      return x & y;
    case Prim::bit_or:
      return x | y;
    case Prim::bit_xor:
      return x ^ y;
    case Prim::bit_not:
      return type == DType::boolean ? !x : ~x;
    case Prim::floor:
      return x;
    case Prim::shift_left:
    case Prim::shift_right:
      return shift(prim, type, x, y);
    default:
      throw std::logic_error(prim_name(prim));
  }
}

}  // namespace

Number prim_result(Prim prim, DType type, const Number& x, const Number& y) {
  if (prim >= Prim::eq && prim <= Prim::ge) {
    return {0, is_floating(type) ? compare(prim, x.real, y.real)
                                 : compare(prim, x.whole, y.whole)};
  }
  if (!is_floating(type)) {
    return {0, wrap(type, integer(prim, type, x.whole, y.whole))};
  }
  const bool is_unary = prim_arity(prim) == 1;
  return {is_unary ? unary(prim, x.real) : binary(prim, x.real, y.real), 0};
}

Number cast_result(const Number& x, DType from, DType to) {
  if (is_floating(to)) {
    Number result{as_double(from, x), 0};
    if (to == DType::f32) result.real = static_cast<float>(result.real);
    return result;
  }
  if (!is_floating(from)) return {0, wrap(to, x.whole)};
  if (to == DType::boolean) return {0, x.real != 0};
  return {0, wrap(to, static_cast<int64_t>(x.real))};
}

Number read_number(DType dtype, const void* place) {
  switch (dtype) {
    case DType::f32:
      return {raw<float>(place), 0};
    case DType::f64:
      return {raw<double>(place), 0};
    case DType::f16:
      return {static_cast<float>(raw<Half>(place)), 0};
    case DType::bf16:
      return {static_cast<float>(raw<BFloat16>(place)), 0};
    case DType::f8e4m3:
      return {static_cast<float>(raw<Float8E4M3>(place)), 0};
    case DType::f8e5m2:
      return {static_cast<float>(raw<Float8E5M2>(place)), 0};
    case DType::i8:
      return {0, raw<int8_t>(place)};
    case DType::u8:
      return {0, raw<uint8_t>(place)};
    case DType::i16:
      return {0, raw<int16_t>(place)};
    case DType::i32:
      return {0, raw<int32_t>(place)};
    case DType::i64:
      return {0, raw<int64_t>(place)};
    case DType::boolean:
      return {0, raw<uint8_t>(place) != 0};
    case DType::c64:
    case DType::c128:
      break;
  }
  throw std::logic_error("dtype");
}

void write_number(DType dtype, void* place, const Number& number) {
  switch (dtype) {
    case DType::f32:
      return put(place, static_cast<float>(number.real));
    case DType::f64:
      return put(place, number.real);
    case DType::f16:
      return put(place, Half(static_cast<float>(number.real)));
    case DType::bf16:
      return put(place, BFloat16(static_cast<float>(number.real)));
    case DType::f8e4m3:
      return put(place, Float8E4M3(static_cast<float>(number.real)));
    case DType::f8e5m2:
      return put(place, Float8E5M2(static_cast<float>(number.real)));
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return put(place, static_cast<int8_t>(number.whole));
    case DType::i16:
      return put(place, static_cast<int16_t>(number.whole));
    case DType::i32:
      return put(place, static_cast<int32_t>(number.whole));
    case DType::i64:
      return put(place, number.whole);
    case DType::c64:
    case DType::c128:
      throw std::logic_error("dtype");
  }
}

double as_double(DType dtype, const Number& number) {
  return is_floating(dtype) ? number.real : static_cast<double>(number.whole);
}

}  // namespace fxjit::jit::testing
