#include "jit/emit/body_integer.h"

#include <llvm/IR/PatternMatch.h>

#include <optional>

namespace fxjit::jit {
namespace {

// The one exponent of all lanes, if known while emitting.
std::optional<int64_t> constant_of(const Value* value) {
  const llvm::APInt* number = nullptr;
  if (!llvm::PatternMatch::match(value, llvm::PatternMatch::m_APInt(number)))
    return std::nullopt;
  return number->getSExtValue();
}

// Whether the exact quotient is negative and not whole.
Value* rounds_up(VectorBuilder& b, Value* rest, Value* divisor) {
  Value* zero = b.like(rest, 0);
  Value* signs = b.bit_xor(b.lt(rest, zero), b.lt(divisor, zero));
  return b.bit_and(b.ne(rest, zero), signs);
}

Value* emit_floor_div(VectorBuilder& b, Value* x, Value* y, bool is_unsigned) {
  Value* quotient = b.div(x, y, is_unsigned);
  if (is_unsigned) return quotient;
  Value* less = b.sub(quotient, b.like(quotient, 1));
  return b.select(rounds_up(b, b.rem(x, y), y), less, quotient);
}

Value* emit_remainder(VectorBuilder& b, Value* x, Value* y, bool is_unsigned) {
  Value* rest = b.rem(x, y, is_unsigned);
  if (is_unsigned) return rest;
  return b.select(rounds_up(b, rest, y), b.add(rest, y), rest);
}

Value* constant_power(VectorBuilder& b, Value* x, int64_t exponent) {
  Value* result = nullptr;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result == nullptr ? x : b.mul(result, x);
    x = b.mul(x, x);
  }
  return result == nullptr ? b.like(x, 1) : result;
}

// x to a non-negative y by repeated squaring, one step per bit of y.
Value* power(VectorBuilder& b, Value* x, Value* y) {
  const int64_t bits = x->getType()->getScalarSizeInBits();
  const auto step = [&](Value*, const Values& carried) -> Values {
    Value* odd = b.ne(b.bit_and(carried[2], b.like(y, 1)), b.like(y, 0));
    Value* product = b.mul(carried[0], carried[1]);
    return {b.select(odd, product, carried[0]), b.mul(carried[1], carried[1]),
            b.shift_right(carried[2], b.like(y, 1), /*is_unsigned=*/true)};
  };
  return b.loop(b.i64(0), b.i64(bits), b.i64(1), {b.like(x, 1), x, y}, step)[0];
}

// Negative exponents leave something of 1 and -1 only.
Value* emit_pow(VectorBuilder& b, Value* x, Value* y, bool is_unsigned) {
  const auto exponent = constant_of(y);
  if (exponent && *exponent >= 0) return constant_power(b, x, *exponent);
  Value* result = power(b, x, y);
  if (is_unsigned) return result;
  Value* zero = b.like(x, 0);
  Value* one = b.like(x, 1);
  Value* odd = b.ne(b.bit_and(y, one), zero);
  Value* sign = b.select(odd, x, one);
  Value* unit = b.bit_or(b.eq(x, one), b.eq(x, b.like(x, -1)));
  return b.select(b.lt(y, zero), b.select(unit, sign, zero), result);
}

Value* emit_division(VectorBuilder& b, Prim prim, Value* x, Value* y,
                     bool is_unsigned) {
  switch (prim) {
    case Prim::div:
      return b.div(x, y, is_unsigned);
    case Prim::floor_div:
      return emit_floor_div(b, x, y, is_unsigned);
    case Prim::remainder:
      return emit_remainder(b, x, y, is_unsigned);
    case Prim::fmod:
      return b.rem(x, y, is_unsigned);
    case Prim::pow:
      return emit_pow(b, x, y, is_unsigned);
    default:
      return nullptr;
  }
}

}  // namespace

Value* emit_integer(VectorBuilder& b, Prim prim, llvm::ArrayRef<Value*> args,
                    bool is_unsigned) {
  Value* x = args[0];
  Value* y = args.size() > 1 ? args[1] : nullptr;
  switch (prim) {
    case Prim::add:
      return b.add(x, y);
    case Prim::sub:
      return b.sub(x, y);
    case Prim::mul:
      return b.mul(x, y);
    case Prim::neg:
      return b.neg(x);
    case Prim::abs:
      return is_unsigned ? x : b.abs(x);
    case Prim::minimum:
      return b.min(x, y, is_unsigned);
    case Prim::maximum:
      return b.max(x, y, is_unsigned);
    case Prim::bit_and:
      return b.bit_and(x, y);
    case Prim::bit_or:
      return b.bit_or(x, y);
    case Prim::bit_xor:
      return b.bit_xor(x, y);
    case Prim::bit_not:
      return b.bit_not(x);
    case Prim::shift_left:
      return b.shift_left(x, y);
    case Prim::shift_right:
      return b.shift_right(x, y, is_unsigned);
    case Prim::floor:
    case Prim::ceil:
    case Prim::round:
    case Prim::trunc:
      return x;
    default:
      return emit_division(b, prim, x, y, is_unsigned);
  }
}

Value* emit_boolean(VectorBuilder& b, Prim prim, llvm::ArrayRef<Value*> args) {
  switch (prim) {
    case Prim::add:
    case Prim::maximum:
    case Prim::bit_or:
      return b.bit_or(args[0], args[1]);
    case Prim::mul:
    case Prim::minimum:
    case Prim::bit_and:
      return b.bit_and(args[0], args[1]);
    case Prim::sub:
    case Prim::bit_xor:
      return b.bit_xor(args[0], args[1]);
    case Prim::neg:
    case Prim::abs:
      return args[0];
    case Prim::bit_not:
      return b.bit_not(args[0]);
    default:
      return nullptr;
  }
}

}  // namespace fxjit::jit
