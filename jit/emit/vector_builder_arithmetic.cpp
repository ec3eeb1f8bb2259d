// VectorBuilder: arithmetic, bits, comparisons.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {
namespace {

bool is_float(const Value* value) {
  return value->getType()->isFPOrFPVectorTy();
}

// A constant of which no lane is NaN, so that min and max need no repair.
bool is_constant_number(const Value* value) {
  const llvm::APFloat* number = nullptr;
  return llvm::PatternMatch::match(value,
                                   llvm::PatternMatch::m_APFloat(number)) &&
         !number->isNaN();
}

// LLVM's `maximum` or `minimum` where any of two zeros will do: the order of
// zeros, which IEEE wants and torch does not keep, would take as long again.
Value* extreme_of(llvm::IRBuilder<>& ir, llvm::Intrinsic::ID which, Value* a,
                  Value* b) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(ir);
  llvm::FastMathFlags flags;
  flags.setNoSignedZeros(true);
  ir.setFastMathFlags(flags);
  return ir.CreateBinaryIntrinsic(which, a, b);
}

// LLVM 19 takes zero by zero for zero in lanes that it knows to be off, as
// those of loads written out one by one are, and then drops the mask behind: a
// fence hides what it knows.
Value* float_divisor(llvm::IRBuilder<>& ir, CpuLevel level, Value* b) {
  const bool hidden = level == CpuLevel::sse41 && !llvm::isa<llvm::Constant>(b);
  return hidden ? ir.CreateArithmeticFence(b, b->getType()) : b;
}

}  // namespace

Value* VectorBuilder::add(Value* a, Value* b) {
  return is_float(a) ? ir_.CreateFAdd(a, b) : ir_.CreateAdd(a, b);
}

Value* VectorBuilder::sub(Value* a, Value* b) {
  return is_float(a) ? ir_.CreateFSub(a, b) : ir_.CreateSub(a, b);
}

Value* VectorBuilder::mul(Value* a, Value* b) {
  return is_float(a) ? ir_.CreateFMul(a, b) : ir_.CreateMul(a, b);
}

// Zero traps and minimum / -1 overflows: both are undefined in LLVM, and
// dividing by one instead gives the wrapped result of the second.
Value* VectorBuilder::guarded_divisor(Value* a, Value* b, bool is_unsigned) {
  llvm::Type* type = a->getType();
  Value* bad = ir_.CreateICmpEQ(b, integer(type, 0));
  if (!is_unsigned) {
    const unsigned bits = type->getScalarSizeInBits();
    Value* lowest =
        llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    Value* overflows = ir_.CreateAnd(ir_.CreateICmpEQ(a, lowest),
                                     ir_.CreateICmpEQ(b, integer(type, -1)));
    bad = ir_.CreateOr(bad, overflows);
  }
  return ir_.CreateSelect(bad, integer(type, 1), b);
}

Value* VectorBuilder::div(Value* a, Value* b, bool is_unsigned) {
  if (is_float(a)) return ir_.CreateFDiv(a, float_divisor(ir_, level_, b));
  b = guarded_divisor(a, b, is_unsigned);
  return is_unsigned ? ir_.CreateUDiv(a, b) : ir_.CreateSDiv(a, b);
}

Value* VectorBuilder::rem(Value* a, Value* b, bool is_unsigned) {
  if (is_float(a)) return ir_.CreateFRem(a, float_divisor(ir_, level_, b));
  b = guarded_divisor(a, b, is_unsigned);
  return is_unsigned ? ir_.CreateURem(a, b) : ir_.CreateSRem(a, b);
}

Value* VectorBuilder::fma(Value* a, Value* b, Value* c) {
  if (!has_fma()) return add(mul(a, b), c);
  return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

Value* VectorBuilder::fnma(Value* a, Value* b, Value* c) {
  if (!has_fma()) return sub(c, mul(a, b));
  return fma(neg(a), b, c);
}

Value* VectorBuilder::neg(Value* a) {
  return is_float(a) ? ir_.CreateFNeg(a) : ir_.CreateNeg(a);
}

Value* VectorBuilder::abs(Value* a) {
  if (is_float(a)) return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
  return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, ir_.getFalse());
}

Value* VectorBuilder::copysign(Value* magnitude, Value* sign) {
  return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

// The select is exactly maxps: its second operand wins where one is NaN.
Value* VectorBuilder::max_fast(Value* a, Value* b) {
  return ir_.CreateSelect(ir_.CreateFCmpOGT(a, b), a, b);
}

Value* VectorBuilder::min_fast(Value* a, Value* b) {
  return ir_.CreateSelect(ir_.CreateFCmpOLT(a, b), a, b);
}

// LLVM lowers the intrinsic to maxps and a repair where `a` is NaN; it makes
// one operation more of the same written as selects.
Value* VectorBuilder::max(Value* a, Value* b, bool is_unsigned) {
  if (!is_float(a)) {
    return ir_.CreateBinaryIntrinsic(
        is_unsigned ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, a, b);
  }
  if (is_constant_number(a)) return max_fast(a, b);
  if (is_constant_number(b)) return max_fast(b, a);
  return extreme_of(ir_, llvm::Intrinsic::maximum, a, b);
}

Value* VectorBuilder::min(Value* a, Value* b, bool is_unsigned) {
  if (!is_float(a)) {
    return ir_.CreateBinaryIntrinsic(
        is_unsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin, a, b);
  }
  if (is_constant_number(a)) return min_fast(a, b);
  if (is_constant_number(b)) return min_fast(b, a);
  return extreme_of(ir_, llvm::Intrinsic::minimum, a, b);
}

Value* VectorBuilder::shift_left(Value* a, Value* b) {
  llvm::Type* type = a->getType();
  Value* bits = integer(type, type->getScalarSizeInBits());
  Value* in_range = ir_.CreateICmpULT(b, bits);
  Value* zero = integer(type, 0);
  Value* shifted = ir_.CreateShl(a, ir_.CreateSelect(in_range, b, zero));
  return ir_.CreateSelect(in_range, shifted, zero);
}

Value* VectorBuilder::shift_right(Value* a, Value* b, bool is_unsigned) {
  llvm::Type* type = a->getType();
  const int64_t bits = type->getScalarSizeInBits();
  Value* in_range = ir_.CreateICmpULT(b, integer(type, bits));
  if (!is_unsigned) {
    Value* all_sign = integer(type, bits - 1);
    return ir_.CreateAShr(a, ir_.CreateSelect(in_range, b, all_sign));
  }
  Value* zero = integer(type, 0);
  Value* shifted = ir_.CreateLShr(a, ir_.CreateSelect(in_range, b, zero));
  return ir_.CreateSelect(in_range, shifted, zero);
}

Value* VectorBuilder::bitcast(Value* a, llvm::Type* element) {
  return ir_.CreateBitCast(a, with_shape_of(a, element));
}

Value* VectorBuilder::eq(Value* a, Value* b) {
  return is_float(a) ? ir_.CreateFCmpOEQ(a, b) : ir_.CreateICmpEQ(a, b);
}

Value* VectorBuilder::ne(Value* a, Value* b) {
  return is_float(a) ? ir_.CreateFCmpUNE(a, b) : ir_.CreateICmpNE(a, b);
}

Value* VectorBuilder::lt(Value* a, Value* b, bool is_unsigned) {
  if (is_float(a)) return ir_.CreateFCmpOLT(a, b);
  return is_unsigned ? ir_.CreateICmpULT(a, b) : ir_.CreateICmpSLT(a, b);
}

Value* VectorBuilder::le(Value* a, Value* b, bool is_unsigned) {
  if (is_float(a)) return ir_.CreateFCmpOLE(a, b);
  return is_unsigned ? ir_.CreateICmpULE(a, b) : ir_.CreateICmpSLE(a, b);
}

Value* VectorBuilder::is_nan(Value* a) { return ir_.CreateFCmpUNO(a, a); }

}  // namespace fxjit::jit
