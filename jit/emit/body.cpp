#include "jit/emit/body.h"

#include <llvm/IR/PatternMatch.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "fxjit/error.h"
#include "jit/emit/body_integer.h"
#include "jit/emit/vector_math.h"
#include "src/tensor/visit.h"

namespace fxjit::jit {
namespace {

[[noreturn]] void unsupported(const ScalarInstr& instr, DType type) {
  throw InternalError(std::string("[jit] no ") + prim_name(instr.prim) +
                      " on " + std::string(dtype_name(type)));
}

// The number that every lane is, where it is known while emitting.
std::optional<double> number_of(const Value* value) {
  const llvm::APFloat* number = nullptr;
  if (!llvm::PatternMatch::match(value, llvm::PatternMatch::m_APFloat(number)))
    return std::nullopt;
  return number->convertToDouble();
}

bool is_number(const Value* value, double number) {
  return number_of(value) == number;
}

// A division of a vector takes as long as sixteen multiplications. The product
// with the divisor's reciprocal is the quotient for powers of two. Otherwise it
// is off by an ulp at most, and what it exceeds the dividend by tells by how
// much (Markstein 1990): the quotient is the rounded one unless it is below the
// smallest normal number. One number alone is divided as fast. For a divisor
// above zero the excess of a zero of either sign is +0, and the zero less its
// product with the reciprocal is the same zero.
Value* emit_div(VectorBuilder& b, Value* x, Value* y) {
  constexpr double kLargest = 0x1p64;
  const std::optional<double> divisor = number_of(y);
  if (!divisor || !x->getType()->getScalarType()->isFloatTy() ||
      !(std::abs(*divisor) <= kLargest && std::abs(*divisor) >= 1 / kLargest))
    return b.div(x, y);
  int exponent = 0;
  const bool power = std::abs(std::frexp(*divisor, &exponent)) == 0.5;
  if (!power && (!b.has_fma() || !x->getType()->isVectorTy()))
    return b.div(x, y);
  if (!power && *divisor < 0)
    return b.neg(emit_div(b, x, b.like(y, -*divisor)));
  Value* reciprocal = b.like(x, 1.0f / static_cast<float>(*divisor));
  Value* quotient = b.mul(x, reciprocal);
  if (power) return quotient;
  Value* excess = b.fma(quotient, y, b.neg(x));
  Value* corrected = b.fnma(excess, reciprocal, quotient);
  // Nothing is left of an infinite dividend, or of one that overflows.
  Value* finite =
      b.lt(b.abs(quotient), b.like(x, std::numeric_limits<double>::infinity()));
  return b.select(finite, corrected, quotient);
}

Value* opposite_signs(VectorBuilder& b, Value* x, Value* y) {
  Value* zero = b.like(x, 0);
  return b.bit_xor(b.lt(x, zero), b.lt(y, zero));
}

// Python's %: the remainder takes the divisor's sign.
Value* emit_remainder(VectorBuilder& b, Value* x, Value* y) {
  Value* rest = emit_libm(b, "fmod", {x, y});
  Value* adjust =
      b.bit_and(b.ne(rest, b.like(rest, 0)), opposite_signs(b, rest, y));
  return b.select(adjust, b.add(rest, y), rest);
}

// As torch: exact where the quotient is, and x / y for a divisor of zero.
Value* emit_floor_div(VectorBuilder& b, Value* x, Value* y) {
  Value* zero = b.like(x, 0);
  Value* one = b.like(x, 1);
  Value* plain = b.div(x, y);
  Value* rest = emit_libm(b, "fmod", {x, y});
  Value* quotient = b.div(b.sub(x, rest), y);
  Value* adjust = b.bit_and(b.ne(rest, zero), opposite_signs(b, rest, y));
  quotient = b.select(adjust, b.sub(quotient, one), quotient);
  Value* whole = b.floor(quotient);
  Value* above = b.lt(b.like(x, 0.5), b.sub(quotient, whole));
  whole = b.select(above, b.add(whole, one), whole);
  whole = b.select(b.eq(quotient, zero), b.copysign(zero, plain), whole);
  return b.select(b.eq(y, zero), plain, whole);
}

// C's power by 0.5: of -0 it is +0, of minus infinity infinity.
Value* emit_root_power(VectorBuilder& b, Value* x) {
  const double infinity = std::numeric_limits<double>::infinity();
  Value* root = b.sqrt(b.add(x, b.like(x, 0)));
  return b.select(b.eq(x, b.like(x, -infinity)), b.like(x, infinity), root);
}

// Exponents that need no pow.
Value* emit_pow(VectorBuilder& b, Value* x, Value* y) {
  Value* one = b.like(x, 1);
  if (is_number(y, 2)) return b.mul(x, x);
  if (is_number(y, 3)) return b.mul(b.mul(x, x), x);
  if (is_number(y, 1)) return x;
  if (is_number(y, 0.5)) return emit_root_power(b, x);
  if (is_number(y, -0.5)) return b.div(one, emit_root_power(b, x));
  if (is_number(y, -1)) return b.div(one, x);
  if (is_number(y, -2)) return b.div(one, b.mul(x, x));
  return emit_libm(b, "pow", {x, y});
}

bool is_call(Prim prim) {
  switch (prim) {
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_CALL(name, cost) case Prim::name:
#include "fxjit/prims.inc"
    return true;
    default:
      return false;
  }
}

Value* emit_smooth(VectorBuilder& b, Prim prim, Value* x) {
  for (const MathBound& function : kMathBounds)
    if (function.emit && prim_name(prim) == std::string_view(function.name))
      return function.emit(b, x);
  return is_call(prim) ? emit_libm(b, prim_name(prim), {x}) : nullptr;
}

Value* emit_rounding(VectorBuilder& b, Prim prim, Value* x) {
  switch (prim) {
    case Prim::sqrt:
      return b.sqrt(x);
    case Prim::rsqrt:
      return emit_rsqrt(b, x);
    case Prim::floor:
      return b.floor(x);
    case Prim::ceil:
      return b.ceil(x);
    case Prim::round:
      return b.round_even(x);
    case Prim::trunc:
      return b.trunc(x);
    default:
      return nullptr;
  }
}

Value* emit_float(VectorBuilder& b, Prim prim, llvm::ArrayRef<Value*> args) {
  switch (prim) {
    case Prim::add:
      return b.add(args[0], args[1]);
    case Prim::sub:
      return b.sub(args[0], args[1]);
    case Prim::mul:
      return b.mul(args[0], args[1]);
    case Prim::div:
      return emit_div(b, args[0], args[1]);
    case Prim::floor_div:
      return emit_floor_div(b, args[0], args[1]);
    case Prim::remainder:
      return emit_remainder(b, args[0], args[1]);
    case Prim::fmod:
      return emit_libm(b, "fmod", {args[0], args[1]});
    case Prim::pow:
      return emit_pow(b, args[0], args[1]);
    case Prim::neg:
      return b.neg(args[0]);
    case Prim::abs:
      return b.abs(args[0]);
    case Prim::minimum:
      return b.min(args[0], args[1]);
    case Prim::maximum:
      return b.max(args[0], args[1]);
    default:
      break;
  }
  if (Value* rounded = emit_rounding(b, prim, args[0])) return rounded;
  return emit_smooth(b, prim, args[0]);
}

Value* emit_comparison(VectorBuilder& b, Prim prim, Value* x, Value* y,
                       bool is_unsigned) {
  switch (prim) {
    case Prim::eq:
      return b.eq(x, y);
    case Prim::ne:
      return b.ne(x, y);
    case Prim::lt:
      return b.lt(x, y, is_unsigned);
    case Prim::le:
      return b.le(x, y, is_unsigned);
    case Prim::gt:
      return b.gt(x, y, is_unsigned);
    case Prim::ge:
      return b.ge(x, y, is_unsigned);
    default:
      return nullptr;
  }
}

// Scalars among vectors become vectors.
Values same_lanes(VectorBuilder& b, llvm::ArrayRef<Value*> args) {
  int lanes = 1;
  for (Value* arg : args)
    lanes = std::max(lanes, VectorBuilder::lane_count(arg));
  Values same(args.begin(), args.end());
  for (Value*& arg : same) {
    if (lanes > 1 && !arg->getType()->isVectorTy()) arg = b.splat(arg, lanes);
  }
  return same;
}

Value* emit_typed(VectorBuilder& b, const ScalarInstr& instr,
                  llvm::ArrayRef<Value*> args, DType type) {
  const bool is_unsigned = type == DType::u8 || type == DType::boolean;
  if (instr.prim >= Prim::eq && instr.prim <= Prim::ge) {
    return emit_comparison(b, instr.prim, args[0], args[1], is_unsigned);
  }
  if (type == DType::boolean) return emit_boolean(b, instr.prim, args);
  if (is_floating(type)) return emit_float(b, instr.prim, args);
  return emit_integer(b, instr.prim, args, is_unsigned);
}

// A `constant` instruction in `lanes` lanes; 1 is a scalar.
Value* emit_constant(VectorBuilder& b, const ScalarInstr& instr, int lanes) {
  llvm::Type* type = b.register_type(instr.type);
  if (lanes != 1) type = b.vec(type, lanes);
  if (instr.type == DType::boolean) return b.integer(type, instr.bits != 0);
  if (is_floating(instr.type)) return b.number(type, instr.imm);
  return b.integer(type, instr.bits);
}

// Emits one instruction. `args` are its arguments, as computed in registers,
// and `types` their dtypes. All have one lane count; scalars are broadcast to
// it. Throws InternalError for inputs, indices, reductions, and types that the
// primitive lacks.
Value* emit_prim(VectorBuilder& b, const ScalarInstr& instr,
                 llvm::ArrayRef<Value*> args, llvm::ArrayRef<DType> types) {
  if (instr.prim == Prim::cast) {
    return b.convert(args[0], compute_dtype(types[0]), instr.type);
  }
  const Values same = same_lanes(b, args);
  if (instr.prim == Prim::select) return b.select(same[0], same[1], same[2]);
  if (same.empty() || is_reduction(instr.prim)) unsupported(instr, instr.type);
  Value* result = emit_typed(b, instr, same, compute_dtype(types[0]));
  if (result == nullptr) unsupported(instr, types[0]);
  return result;
}

}  // namespace

Value* convert_computed(VectorBuilder& b, Value* value, DType from, DType to) {
  return b.convert(value, compute_dtype(from), compute_dtype(to));
}

BodyValues::BodyValues(VectorBuilder& b, const ScalarBody& body, int lanes,
                       Known known)
    : b_(b),
      body_(body),
      quotients_(body),
      quantisings_(body),
      lanes_(lanes),
      known_(std::move(known)),
      values_(body.instrs.size(), nullptr) {}

Value* BodyValues::known(int32_t id) {
  Value*& value = values_[size_t(id)];
  if (value == nullptr) value = known_(*this, id);
  return value;
}

Value* BodyValues::get(int32_t id) {
  Value* value = known(id);
  if (value == nullptr) value = values_[size_t(id)] = emit(id);
  return value;
}

// The product `id` as a quotient, null if it is none. A factor that an earlier
// pass or the row has already given is multiplied by.
Value* BodyValues::emit_quotient(int32_t id) {
  const auto& [sigmoid, factor, is_gate] = quotients_.product(id);
  if (sigmoid < 0 || known(sigmoid) != nullptr) return nullptr;
  const auto argument = [&](int32_t of) {
    return get(body_.instrs[size_t(of)].args[0]);
  };
  if (is_gate && known(factor) == nullptr) {
    const Values same = same_lanes(b_, {argument(factor), argument(sigmoid)});
    return emit_gate(b_, same[0], same[1]);
  }
  const Values same = same_lanes(b_, {get(factor), argument(sigmoid)});
  return emit_sigmoid_product(b_, same[0], same[1]);
}

// The value `id` as quantised floats, null if it is none. One number alone is
// rounded as it is written.
Value* BodyValues::emit_quantising(int32_t id) {
  const Quantising& found = quantisings_.of(id);
  if (found.real < 0) return nullptr;
  Value* real = get(found.real);
  if (!real->getType()->isVectorTy()) return nullptr;
  Value* zero = nullptr;
  if (found.zero >= 0)
    zero = b_.convert(get(found.zero), body_.instrs[size_t(found.zero)].type,
                      DType::i16);
  return emit_quantised(b_, real, zero, found);
}

Value* BodyValues::emit(int32_t id) {
  const ScalarInstr& instr = body_.instrs[size_t(id)];
  if (instr.prim == Prim::constant) return emit_constant(b_, instr, lanes_);
  if (Value* quotient = emit_quotient(id)) return quotient;
  if (Value* quantised = emit_quantising(id)) return quantised;
  llvm::SmallVector<Value*, 3> args;
  llvm::SmallVector<DType, 3> types;
  for (int a = 0; a < prim_arity(instr.prim); ++a) {
    args.push_back(get(instr.args[size_t(a)]));
    types.push_back(body_.instrs[size_t(instr.args[size_t(a)])].type);
  }
  return emit_prim(b_, instr, args, types);
}

Value* BodyValues::reduced(const ScalarInstr& reduction) {
  const int32_t id = reduction.args[0];
  return convert_computed(b_, get(id), body_.instrs[size_t(id)].type,
                          reduction.type);
}

Value* BodyValues::result(size_t r, DType dtype) {
  const int32_t id = body_.results[r];
  const DType type = body_.instrs[size_t(id)].type;
  return convert_computed(b_, get(id), type, dtype);
}

}  // namespace fxjit::jit
