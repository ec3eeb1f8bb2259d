// VectorBuilder: conversions between dtypes, in registers and at memory.
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>
#include <cmath>

#include "jit/emit/vector_builder.h"
#include "src/tensor/float8_format.h"
#include "src/tensor/visit.h"

namespace fxjit::jit {
namespace {

bool is_unsigned(DType dtype) {
  return dtype == DType::u8 || dtype == DType::boolean;
}

// Whether numbers of the type are rounded ones of f32.
bool is_half(DType dtype) { return dtype != compute_dtype(dtype); }

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

// Of bits of f16.
Value* half_bits_to_f32(VectorBuilder& b, Value* bits) {
  Value* half = b.bitcast(bits, b.ir().getHalfTy());
  return b.ir().CreateFPExt(half, b.with_shape_of(bits, b.f32()));
}

// f8e5m2 is the upper half of f16. f8e4m3 has the exponent that f16 has for
// 2^-8 of the number; NaN is the one code of all magnitude bits.
Value* f8_bits_to_f32(VectorBuilder& b, DType dtype, Value* bits) {
  llvm::IRBuilder<>& ir = b.ir();
  Value* wide = ir.CreateZExt(bits, b.with_shape_of(bits, b.i16()));
  llvm::Type* type = wide->getType();
  const auto up = [&](Value* value, int64_t count) {
    return ir.CreateShl(value, b.integer(type, count));
  };
  if (dtype == DType::f8e5m2) return half_bits_to_f32(b, up(wide, 8));
  Value* magnitude = b.bit_and(wide, b.integer(type, 0x7f));
  Value* sign = up(b.bit_and(wide, b.integer(type, 0x80)), 8);
  Value* half = half_bits_to_f32(b, b.bit_or(up(magnitude, 7), sign));
  Value* nan = half_bits_to_f32(b, b.bit_or(sign, b.integer(type, 0x7e00)));
  Value* is_nan = ir.CreateICmpEQ(magnitude, b.integer(type, kFloat8Nan));
  return ir.CreateSelect(is_nan, nan, ir.CreateFMul(half, b.like(half, 256)));
}

// Bits of normal numbers are rounded as those of bf16 are. Those below are
// whole multiples of the least, which a greater number whose last bit stands
// for it rounds.
Value* f32_to_f8_bits(VectorBuilder& b, DType dtype, Value* value) {
  llvm::IRBuilder<>& ir = b.ir();
  const Float8Format& to = float8_format(dtype);
  const int shift = 23 - to.mantissa;
  Value* bits = b.bitcast(value, b.i32());
  llvm::Type* type = bits->getType();
  const auto number = [&](int64_t n) { return b.integer(type, n); };
  Value* size = b.bit_and(bits, number(0x7fffffff));
  Value* sign = b.bit_and(ir.CreateLShr(bits, number(24)), number(0x80));
  Value* odd = b.bit_and(ir.CreateLShr(size, number(shift)), number(1));
  const int64_t half = (int64_t{1} << (shift - 1)) - 1;
  const int64_t rebias = int64_t{127 - to.bias} << 23;
  Value* normal = ir.CreateLShr(
      ir.CreateAdd(ir.CreateAdd(size, odd), number(half - rebias)),
      number(shift));
  const float unit = std::ldexp(1.0f, 24 - to.bias - to.mantissa);
  Value* raised = ir.CreateFAdd(b.bitcast(size, b.f32()), b.like(value, unit));
  Value* multiple = ir.CreateSub(b.bitcast(raised, b.i32()),
                                 number(std::bit_cast<int32_t>(unit)));
  const auto below = [&](int64_t end) {
    return ir.CreateICmpULT(size, number(end));
  };
  Value* code =
      ir.CreateSelect(below(int64_t{128 - to.bias} << 23), multiple, normal);
  code = ir.CreateSelect(below(std::bit_cast<int32_t>(to.limit)), code,
                         number(to.beyond));
  code = ir.CreateSelect(below(0x7f800001), code, number(kFloat8Nan));
  return ir.CreateTrunc(b.bit_or(code, sign), b.with_shape_of(value, b.i8()));
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
  if (is_float8(dtype)) return f8_bits_to_f32(*this, dtype, value);
  return dtype == DType::f16 ? half_bits_to_f32(*this, value) : value;
}

Value* VectorBuilder::to_memory(DType dtype, Value* value) {
  if (is_complex(dtype)) refuse_complex(dtype);
  if (dtype == DType::bf16) return f32_to_bf16_bits(*this, value);
  if (dtype == DType::boolean)
    return ir_.CreateZExt(value, with_shape_of(value, i8()));
  if (is_float8(dtype)) return f32_to_f8_bits(*this, dtype, value);
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
