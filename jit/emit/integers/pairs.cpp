#include "jit/emit/integers/pairs.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace fxjit::jit {
namespace {

unsigned bits_of(Value* vector) {
  return static_cast<unsigned>(
      vector->getType()->getPrimitiveSizeInBits().getFixedValue());
}

llvm::Intrinsic::ID pairs_of(unsigned bits) {
  switch (bits) {
    case 128:
      return llvm::Intrinsic::x86_sse2_pmadd_wd;
    case 256:
      return llvm::Intrinsic::x86_avx2_pmadd_wd;
    default:
      return llvm::Intrinsic::x86_avx512_pmaddw_d_512;
  }
}

}  // namespace

Value* sums_of_pairs(VectorBuilder& b, Value* x, Value* y) {
  return b.ir().CreateIntrinsic(pairs_of(bits_of(x)), {}, {x, y});
}

Value* as_shorts(VectorBuilder& b, Value* bits) {
  const auto shorts = static_cast<int>(bits_of(bits) / 16);
  return b.ir().CreateBitCast(bits, b.vec(b.i16(), shorts));
}

}  // namespace fxjit::jit
