#include "jit/emit/reduction.h"

#include <llvm/IR/Constants.h>

#include <limits>
#include <string>

#include "fxjit/error.h"

namespace fxjit::jit {
namespace {

Combine combine_of(Prim prim) {
  switch (prim) {
    case Prim::reduce_sum:
      return Combine::sum;
    case Prim::reduce_prod:
      return Combine::prod;
    case Prim::reduce_max:
      return Combine::max;
    case Prim::reduce_min:
      return Combine::min;
    default:
      throw InternalError(std::string("[jit] not a numeric reduction: ") +
                          prim_name(prim));
  }
}

// Booleans know two kinds only.
bool is_any(Prim prim) {
  return prim == Prim::reduce_any || prim == Prim::reduce_max ||
         prim == Prim::reduce_sum;
}

bool is_fast_maximum(const ScalarInstr& instr, NanRule nan) {
  return nan == NanRule::ignore && instr.prim == Prim::reduce_max &&
         is_floating(instr.type);
}

// The value that every other one of the type replaces.
Value* extreme(VectorBuilder& b, llvm::Type* type, bool is_unsigned,
               bool lowest) {
  if (type->isFPOrFPVectorTy()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return b.number(type, lowest ? -infinity : infinity);
  }
  const unsigned bits = type->getScalarSizeInBits();
  if (is_unsigned) {
    return llvm::ConstantInt::get(type, lowest
                                            ? llvm::APInt::getMinValue(bits)
                                            : llvm::APInt::getMaxValue(bits));
  }
  return llvm::ConstantInt::get(type,
                                lowest ? llvm::APInt::getSignedMinValue(bits)
                                       : llvm::APInt::getSignedMaxValue(bits));
}

}  // namespace

NanRule nan_rule(const program::BodyFacts& facts, int32_t id) {
  return facts.only_shifts_softmax(id) ? NanRule::ignore : NanRule::keep;
}

Value* reduction_identity(VectorBuilder& b, const ScalarInstr& instr,
                          int lanes) {
  llvm::Type* type = b.vec(b.register_type(instr.type), lanes);
  if (instr.type == DType::boolean) return b.integer(type, !is_any(instr.prim));
  switch (combine_of(instr.prim)) {
    case Combine::sum:
      return b.number(type, 0);
    case Combine::prod:
      return b.number(type, 1);
    case Combine::max:
      return extreme(b, type, instr.type == DType::u8, /*lowest=*/true);
    case Combine::min:
      return extreme(b, type, instr.type == DType::u8, /*lowest=*/false);
  }
  return nullptr;
}

// The accumulator goes second: max and min then wait for it in one operation,
// as the test for NaN looks at the first operand.
Value* reduction_step(VectorBuilder& b, const ScalarInstr& instr,
                      Value* accumulator, Value* value, Value* mask,
                      NanRule nan) {
  Value* next = nullptr;
  if (instr.type == DType::boolean) {
    next = is_any(instr.prim) ? b.bit_or(value, accumulator)
                              : b.bit_and(value, accumulator);
  } else if (is_fast_maximum(instr, nan)) {
    next = b.max_fast(value, accumulator);
  } else {
    next = b.combine(combine_of(instr.prim), value, accumulator,
                     instr.type == DType::u8);
  }
  return mask == nullptr ? next : b.select(mask, next, accumulator);
}

Value* reduce_lanes(VectorBuilder& b, const ScalarInstr& instr, Value* vector,
                    NanRule nan) {
  if (instr.type == DType::boolean) {
    return is_any(instr.prim) ? b.any(vector) : b.all(vector);
  }
  if (!is_fast_maximum(instr, nan)) {
    return b.reduce(combine_of(instr.prim), vector, instr.type == DType::u8);
  }
  for (int half = VectorBuilder::lane_count(vector) / 2; half >= 1; half /= 2) {
    vector = b.max_fast(b.slice(vector, 0, half), b.slice(vector, half, half));
  }
  return b.lane(vector, 0);
}

}  // namespace fxjit::jit
