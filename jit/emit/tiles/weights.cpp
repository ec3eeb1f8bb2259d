#include "jit/emit/tiles/weights.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "src/weights/f28.h"
#include "src/weights/fixed.h"

namespace fxjit::jit {

using weights::Format;

TileWeights::TileWeights(VectorBuilder& b, weights::Format format,
                         const weights::Blocks& blocks, int64_t width,
                         Value* table)
    : b_(b),
      format_(format),
      blocks_(blocks),
      width_(width),
      row_bytes_(weights::panel_row_bytes(format, width)),
      table_(table) {
  if (format == weights::Format::f28)
    exponents_ = b.load_raw(b.vec(b.i32()), table, kCacheLine);
}

Value* TileWeights::vector(Value* block, int64_t row, int64_t vector) {
  const int64_t in_row = width_ / b_.lanes();
  const int64_t bytes = row_bytes_ / in_row;
  if (format_ == weights::Format::f28)
    return coded(block, row * in_row + vector);
  if (is_scaled()) return fixed(block, row * in_row + vector);
  Value* at = b_.offset_bytes(block, row * row_bytes_ + vector * bytes);
  const int alignment = static_cast<int>(bytes);
  if (format_ == weights::Format::bytes)
    return b_.convert(b_.load(DType::i8, at, b_.lanes(), alignment), DType::i8,
                      DType::f32);
  const DType dtype = format_ == weights::Format::f16    ? DType::f16
                      : format_ == weights::Format::bf16 ? DType::bf16
                                                         : DType::f32;
  return b_.load(dtype, at, b_.lanes(), alignment);
}

// Unpacks 28-bit weights. Each lane gets its three stored bytes, the last of
// them twice: as the top of the mantissa and as the byte with the sign. Whole
// words are moved first, between quarters of the register, then bytes within
// quarters. The exponent comes from a table by a code of four bits.
Value* TileWeights::coded(Value* block, int64_t vector) {
  llvm::IRBuilder<>& ir = b_.ir();
  Value* at = b_.offset_bytes(
      block, weights::kF28CodeBytes + vector * weights::kF28VectorBytes);
  Value* words = b_.load_raw(b_.vec(b_.i32()), at, 16);
  std::vector<int> quarters, bytes;
  for (int lane = 0; lane < 16; ++lane) {
    quarters.push_back(lane / 4 * 3 + (lane % 4 == 3 ? 0 : lane % 4));
    const int first = lane / 4 * 16 + lane % 4 * 3;
    bytes.insert(bytes.end(), {first, first + 1, first + 2, first + 2});
  }
  words = ir.CreateShuffleVector(words, quarters);
  Value* spread = ir.CreateShuffleVector(
      ir.CreateBitCast(words, b_.vec(b_.i8(), 64)), bytes);
  Value* kept = ir.CreateAnd(ir.CreateBitCast(spread, b_.vec(b_.i32())),
                             b_.integer(b_.vec(b_.i32()), 0x807fffff));
  Value* codes = b_.load_raw(b_.vec(b_.i32()), block, kCacheLine);
  codes = ir.CreateLShr(codes, b_.integer(b_.vec(b_.i32()), 4 * vector));
  // This permutation reads only the low four bits of each lane.
  Value* exponents = ir.CreateIntrinsic(
      llvm::Intrinsic::x86_avx512_permvar_si_512, {}, {exponents_, codes});
  return b_.bitcast(ir.CreateOr(kept, exponents), b_.f32());
}

// Unpacks 24-bit fixed-point weights. Three words hold four numbers: each word
// holds one, and one byte of the fourth.
Value* TileWeights::fixed(Value* block, int64_t vector) {
  llvm::Type* words = b_.vec(b_.i32());
  const int64_t quarter = width_ / 2 / b_.lanes();
  const auto word = [&](int64_t q) {
    const int64_t at = q * quarter + vector % quarter;
    const int bytes = b_.lanes() * 4;
    return b_.load_raw(words, b_.offset_bytes(block, at * bytes), bytes);
  };
  const auto masked = [&](Value* value, int64_t mask) {
    return b_.bit_and(value, b_.integer(words, mask));
  };
  const auto up = [&](Value* value, int64_t bits) {
    return b_.ir().CreateShl(value, b_.integer(words, bits));
  };
  Value* number;
  if (vector / quarter < 3)
    number = masked(word(vector / quarter), 0xffffff00);
  else
    number =
        b_.bit_or(b_.bit_or(up(word(0), 24), masked(up(word(1), 16), 0xff0000)),
                  masked(up(word(2), 8), 0xff00));
  return b_.ir().CreateSIToFP(number, b_.vec(b_.f32()));
}

Value* TileWeights::block_scale(Value* at, int64_t vector) {
  const DType dtype = blocks_.has_halves ? DType::f16 : DType::f32;
  const int64_t bytes = vector * b_.lanes() * (blocks_.has_halves ? 2 : 4);
  return b_.load(dtype, b_.offset_bytes(at, bytes));
}

Value* TileWeights::block_zero(Value* at, int64_t vector) {
  if (!blocks_.has_zeros) return nullptr;
  Value* zeros = b_.offset_bytes(
      at, blocks_.zeros_at(width_) + vector * int64_t{b_.lanes()});
  return b_.ir().CreateSExt(b_.load_raw(b_.vec(b_.i8()), zeros, 1),
                            b_.vec(b_.i32()));
}

Value* TileWeights::block_words(Value* at, Value* word, int64_t vector) {
  Value* words = b_.offset_bytes(
      at, blocks_.words_at(width_) + vector * int64_t{b_.lanes()} * 4);
  return b_.load_raw(b_.vec(b_.i32()),
                     b_.offset_bytes(words, b_.mul(word, b_.i64(width_ * 4))),
                     4);
}

// Codes are raised to the top, which leaves those above them out, and lowered
// with their sign.
Value* TileWeights::block_number(Value* words, int64_t place, Value* zero) {
  const int64_t above = 32 - blocks_.bits * (place + 1);
  if (above == 0) return signed_number(words, zero);
  Value* bits = b_.integer(words->getType(), above);
  return signed_number(b_.ir().CreateShl(words, bits), zero);
}

Value* TileWeights::block_number(Value* words, Value* place, Value* zero) {
  Value* above =
      b_.sub(b_.i32(32 - blocks_.bits), b_.mul(place, b_.i32(blocks_.bits)));
  return signed_number(b_.ir().CreateShl(words, b_.splat(above)), zero);
}

Value* TileWeights::signed_number(Value* raised, Value* zero) {
  Value* code = b_.ir().CreateAShr(
      raised, b_.integer(raised->getType(), 32 - blocks_.bits));
  if (zero) code = b_.sub(code, zero);
  return b_.ir().CreateSIToFP(code, b_.vec(b_.f32()));
}

Value* TileWeights::scaled_factor(Value* factor) {
  return b_.mul(factor, b_.like(factor, weights::kFixedFactor));
}

Value* TileWeights::finish(Value* sum, int64_t vector, Value* start) {
  llvm::Type* type = b_.vec(b_.f32());
  Value* steps = b_.load_raw(type, b_.offset(table_, type, vector));
  return b_.fma(sum, steps, start);
}

}  // namespace fxjit::jit
