// VectorBuilder: conversions between dtypes, in registers and at memory.
#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>

#include "jit/emit/vector_builder.h"
#include "src/tensor/visit.h"

namespace fxjit::jit {
namespace {

bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::boolean;
}

bool is_half(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16;
}

// Round to nearest even by adding just under half of the last kept place, which
// could make infinity of a NaN. All NaNs become one, as with BFloat16.
Value* f32_to_bf16_bits(VectorBuilder& b, Value* value) {
  llvm::IRBuilder<>& ir = b.ir();
  Value* bits = b.bitcast(value, b.i32());
  llvm::Type* type = bits->getType();
  Value* upper = ir.CreateLShr(bits, b.integer(type, 16));
  Value* odd = ir.CreateAnd(upper, b.integer(type, 1));
  Value* bias = ir.CreateAdd(odd, b.integer(type, 0x7fff));
  Value* rounded = ir.CreateLShr(ir.CreateAdd(bits, bias), b.integer(type, 16));
  Value* nan = b.integer(type, 0x7fc0);
  Value* result = ir.CreateSelect(b.is_nan(value), nan, rounded);
  return ir.CreateTrunc(result, b.with_shape_of(value, b.i16()));
}

Value* bf16_bits_to_f32(VectorBuilder& b, Value* bits) {
  llvm::IRBuilder<>& ir = b.ir();
  Value* wide = ir.CreateZExt(bits, b.with_shape_of(bits, b.i32()));
  Value* shifted = ir.CreateShl(wide, b.integer(wide->getType(), 16));
  return b.bitcast(shifted, b.f32());
}

// The instruction for a whole vector, which gives the least integer for what
// lies outside; null where there is none of this width.
Value* whole_vector_to_i32(VectorBuilder& b, Value* value) {
  if (value->getType() != b.vec(b.f32())) return nullptr;
  switch (b.level()) {
    case CpuLevel::sse41:
      return b.ir().CreateIntrinsic(llvm::Intrinsic::x86_sse2_cvttps2dq, {},
                                    {value});
    case CpuLevel::avx2:
      return b.ir().CreateIntrinsic(llvm::Intrinsic::x86_avx_cvtt_ps2dq_256, {},
                                    {value});
    case CpuLevel::avx512:
      break;
  }
  return nullptr;
}

}  // namespace

Value* VectorBuilder::from_memory(DType dtype, Value* value) {
  if (is_complex(dtype)) refuse_complex(dtype);
  if (dtype == DType::bf16) return bf16_bits_to_f32(*this, value);
  if (dtype == DType::boolean) return ne(value, like(value, 0));
  if (dtype != DType::f16) return value;
  Value* half = bitcast(value, ir_.getHalfTy());
  return ir_.CreateFPExt(half, with_shape_of(value, f32()));
}

Value* VectorBuilder::to_memory(DType dtype, Value* value) {
  if (is_complex(dtype)) refuse_complex(dtype);
  if (dtype == DType::bf16) return f32_to_bf16_bits(*this, value);
  if (dtype == DType::boolean)
    return ir_.CreateZExt(value, with_shape_of(value, i8()));
  if (dtype != DType::f16) return value;
  llvm::Type* half = with_shape_of(value, ir_.getHalfTy());
  return bitcast(ir_.CreateFPTrunc(value, half), i16());
}

// By the machine's way of rounding, which is half to even.
Value* VectorBuilder::round_to_i32(Value* value) {
  const int count = lane_count(value), half = count / 2;
  if (level_ == CpuLevel::avx512 || count % lanes() != 0)
    return float_to_int(round_even(value), i32());
  if (count > lanes())
    return concat(round_to_i32(slice(value, 0, half)),
                  round_to_i32(slice(value, half, half)));
  const llvm::Intrinsic::ID rounding =
      level_ == CpuLevel::avx2 ? llvm::Intrinsic::x86_avx_cvt_ps2dq_256
                               : llvm::Intrinsic::x86_sse2_cvtps2dq;
  return ir_.CreateIntrinsic(rounding, {}, {value});
}

// Narrow integers go through i32, whose truncation wraps as in torch. What lies
// outside, NaN included, gives the least integer, as x86 does; LLVM alone
// leaves it undefined.
Value* VectorBuilder::float_to_int(Value* value, llvm::Type* to) {
  llvm::Type* wide = to->getIntegerBitWidth() < 32 ? i32() : to;
  llvm::Type* narrow = with_shape_of(value, to);
  if (wide == i32())
    if (Value* whole = whole_vector_to_i32(*this, value))
      return ir_.CreateTrunc(whole, narrow);
  llvm::Type* type = with_shape_of(value, wide);
  const unsigned bits = wide->getIntegerBitWidth();
  const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
  Value* inside = ir_.CreateAnd(ge(value, like(value, -limit)),
                                lt(value, like(value, limit)));
  Value* least =
      llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
  Value* whole = ir_.CreateSelect(inside, ir_.CreateFPToSI(value, type), least);
  return ir_.CreateTrunc(whole, narrow);
}

Value* VectorBuilder::convert(Value* value, DType from, DType to) {
  if (from == to) return value;
  if (to == DType::boolean) return ne(value, like(value, 0));
  llvm::Type* target = with_shape_of(value, register_type(to));
  const bool from_float = is_floating(from);
  if (!is_floating(to)) {
    if (from_float) return float_to_int(value, register_type(to));
    return ir_.CreateIntCast(value, target, !is_unsigned(from));
  }
  Value* result = nullptr;
  if (from_float) {
    result = ir_.CreateFPCast(value, target);
  } else if (is_unsigned(from)) {
    result = ir_.CreateUIToFP(value, target);
  } else {
    result = ir_.CreateSIToFP(value, target);
  }
  return is_half(to) ? from_memory(to, to_memory(to, result)) : result;
}

}  // namespace fxjit::jit
