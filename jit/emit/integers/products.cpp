#include "jit/emit/integers/products.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "jit/emit/integers/pairs.h"

namespace fxjit::jit {
namespace {

using program::QuadSums;

unsigned width_of(Value* vector) {
  return static_cast<unsigned>(
      vector->getType()->getPrimitiveSizeInBits().getFixedValue());
}

llvm::Intrinsic::ID byte_pairs_of(unsigned width) {
  return width == 128   ? llvm::Intrinsic::x86_ssse3_pmadd_ub_sw_128
         : width == 256 ? llvm::Intrinsic::x86_avx2_pmadd_ub_sw
                        : llvm::Intrinsic::x86_avx512_pmaddubs_w_512;
}

llvm::Intrinsic::ID dot_of(unsigned width) {
  return width == 128   ? llvm::Intrinsic::x86_avx512_vpdpbusd_128
         : width == 256 ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                        : llvm::Intrinsic::x86_avx512_vpdpbusd_512;
}

}  // namespace

void IntegerProducts::allow_dots() {
  if (adds_ != QuadSums::dot) return;
  b_.function().addFnAttr("target-features", b_.level() == CpuLevel::avx512
                                                 ? "+avx512vnni"
                                                 : "+avxvnni");
}

Value* IntegerProducts::pairs(Value* rows, Value* factors) {
  if (adds_ == QuadSums::shorts)
    return sums_of_pairs(b_, as_shorts(b_, rows), as_shorts(b_, factors));
  return b_.ir().CreateIntrinsic(byte_pairs_of(width_of(rows)), {},
                                 {rows, factors});
}

Value* IntegerProducts::in_words(Value* pairs) {
  if (adds_ == QuadSums::shorts) return pairs;
  return sums_of_pairs(b_, pairs, b_.integer(pairs->getType(), 1));
}

Value* IntegerProducts::add(Value* sums, Value* rows, Value* factors) {
  if (adds_ != QuadSums::dot) return b_.add(sums, quads(rows, factors));
  llvm::Type* const type = sums->getType();
  return b_.ir().CreateIntrinsic(dot_of(width_of(rows)), {},
                                 {sums, b_.ir().CreateBitCast(rows, type),
                                  b_.ir().CreateBitCast(factors, type)});
}

}  // namespace fxjit::jit
