#include "jit/emit/reduction.h"

#include <llvm/IR/Constants.h>

#include <limits>
#include <string>

#include "fxjit/error.h"

namespace fxjit::jit {
namespace {

// Booleans know two kinds only.
bool is_any(Prim prim) {
  return prim == Prim::reduce_any || prim == Prim::reduce_max ||
         prim == Prim::reduce_sum;
}

Value* combined(VectorBuilder& b, const ScalarInstr& instr, Value* x, Value* y,
                NanRule nan) {
  if (instr.type == DType::boolean)
    return is_any(instr.prim) ? b.bit_or(x, y) : b.bit_and(x, y);
  const bool is_unsigned = instr.type == DType::u8;
  switch (instr.prim) {
    case Prim::reduce_sum:
      return b.add(x, y);
    case Prim::reduce_prod:
      return b.mul(x, y);
    case Prim::reduce_max:
      return nan == NanRule::ignore && is_floating(instr.type)
                 ? b.max_fast(x, y)
                 : b.max(x, y, is_unsigned);
    case Prim::reduce_min:
      return b.min(x, y, is_unsigned);
    default:
      throw InternalError(std::string("[jit] not a numeric reduction: ") +
                          prim_name(instr.prim));
  }
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

NanRule nan_rule(const program::RowSchedule& schedule, int32_t id) {
  return schedule.softmax[size_t(id)] ? NanRule::ignore : NanRule::keep;
}

Value* reduction_identity(VectorBuilder& b, const ScalarInstr& instr,
                          int lanes) {
  llvm::Type* type = b.vec(b.register_type(instr.type), lanes);
  if (instr.type == DType::boolean) return b.integer(type, !is_any(instr.prim));
  if (instr.prim == Prim::reduce_sum) return b.number(type, 0);
  if (instr.prim == Prim::reduce_prod) return b.number(type, 1);
  return extreme(b, type, instr.type == DType::u8,
                 /*lowest=*/instr.prim == Prim::reduce_max);
}

// The accumulator goes second: max and min then wait for it in one operation,
// as the test for NaN looks at the first operand.
Value* reduction_step(VectorBuilder& b, const ScalarInstr& instr,
                      Value* accumulator, Value* value, Value* mask,
                      NanRule nan) {
  Value* next = combined(b, instr, value, accumulator, nan);
  return mask == nullptr ? next : b.select(mask, next, accumulator);
}

Value* reduce_lanes(VectorBuilder& b, const ScalarInstr& instr, Value* vector,
                    NanRule nan) {
  if (instr.type == DType::boolean) {
    return is_any(instr.prim) ? b.any(vector) : b.all(vector);
  }
  return b.reduce(vector, [&](Value* x, Value* y) {
    return combined(b, instr, x, y, nan);
  });
}

}  // namespace fxjit::jit
