// VectorBuilder: moving data between lanes.
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {
namespace {

using Mask = llvm::SmallVector<int, 64>;

// Lane order of one step of a transpose: within blocks of four lanes,
// unpacklo or unpackhi of groups of `size`.
Mask unpack_mask(int lanes, int size, bool high) {
  Mask mask;
  for (int block = 0; block < lanes; block += 4) {
    for (int k = 0; k < 4; ++k) {
      const int group = k / size;  // Alternates between the two sources.
      const int source = (group % 2) * lanes;
      const int place = (group / 2) * size + k % size + (high ? 2 : 0);
      mask.push_back(source + block + place);
    }
  }
  return mask;
}

// The even (or odd) blocks of four lanes of both sources, one after the other.
Mask block_mask(int lanes, bool odd) {
  Mask mask;
  for (int block = odd ? 4 : 0; block < 2 * lanes; block += 8) {
    for (int k = 0; k < 4; ++k) mask.push_back(block + k);
  }
  return mask;
}

}  // namespace

Value* VectorBuilder::concat(Value* low, Value* high) {
  const int count = lane_count(low);
  Mask mask;
  for (int i = 0; i < 2 * count; ++i) mask.push_back(i);
  return ir_.CreateShuffleVector(low, high, mask);
}

Value* VectorBuilder::slice(Value* vector, int first, int count) {
  if (count == lane_count(vector)) return vector;
  Mask mask;
  for (int i = 0; i < count; ++i) mask.push_back(first + i);
  return ir_.CreateShuffleVector(vector, mask);
}

Value* VectorBuilder::permute(Value* vector, Value* indices) {
  constexpr int kHalf = 8, kQuarter = 4;
  const bool any_lane = level_ != CpuLevel::sse41;
  const int count = lane_count(vector);
  if (any_lane && count == kQuarter)
    return ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx_vpermilvar_ps, {},
                               {vector, indices});
  if (any_lane && count == kHalf)
    return ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {},
                               {vector, indices});
  if (any_lane)
    return ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                               {vector, indices});
  Value* result = llvm::PoisonValue::get(vector->getType());
  for (int i = 0; i < lane_count(vector); ++i)
    result = ir_.CreateInsertElement(
        result, ir_.CreateExtractElement(vector, lane(indices, i)),
        uint64_t(i));
  return result;
}

// AVX2 has no registers for masks; LLVM carries their bits in halves of lanes
// from one block to the next.
Value* VectorBuilder::select_negative(Value* signs, Value* a, Value* b) {
  constexpr int kHalf = 8;
  if (level_ == CpuLevel::avx512)
    return select(ir_.CreateICmpSLT(signs, like(signs, 0)), a, b);
  return ir_.CreateIntrinsic(lane_count(a) == kHalf
                                 ? llvm::Intrinsic::x86_avx_blendv_ps_256
                                 : llvm::Intrinsic::x86_sse41_blendvps,
                             {}, {b, a, bitcast(signs, f32())});
}

Value* VectorBuilder::resize(Value* vector, int lanes) {
  const int count = lane_count(vector);
  if (lanes <= count) return slice(vector, 0, lanes);
  Mask mask;
  // Every lane of the second operand is zero; take its first.
  for (int i = 0; i < lanes; ++i) mask.push_back(i < count ? i : count);
  return ir_.CreateShuffleVector(
      vector, llvm::Constant::getNullValue(vector->getType()), mask);
}

Value* VectorBuilder::reduce(
    Value* vector, llvm::function_ref<Value*(Value*, Value*)> combine) {
  for (int half = lane_count(vector) / 2; half >= 1; half /= 2)
    vector = combine(slice(vector, 0, half), slice(vector, half, half));
  return vector->getType()->isVectorTy() ? lane(vector, 0) : vector;
}

Value* VectorBuilder::any(Value* mask) {
  return mask->getType()->isVectorTy() ? ir_.CreateOrReduce(mask) : mask;
}

Value* VectorBuilder::all(Value* mask) {
  return mask->getType()->isVectorTy() ? ir_.CreateAndReduce(mask) : mask;
}

// Two rounds of unpacking transpose each 4 x 4 block; taking even and odd
// blocks, once per doubling of the row, then puts the blocks in their place.
// All four kinds of shuffle are single instructions.
Values VectorBuilder::transpose(const Values& rows) {
  const int n = int(rows.size());
  const auto unpack = [&](Value* a, Value* b, int size, bool high) {
    return ir_.CreateShuffleVector(a, b,
                                   unpack_mask(lane_count(a), size, high));
  };
  Values blocks(rows.size());  // [4 * group + column of the 4 x 4 block]
  for (int g = 0; g < n; g += 4) {
    Value* low01 = unpack(rows[g], rows[g + 1], 1, false);
    Value* high01 = unpack(rows[g], rows[g + 1], 1, true);
    Value* low23 = unpack(rows[g + 2], rows[g + 3], 1, false);
    Value* high23 = unpack(rows[g + 2], rows[g + 3], 1, true);
    blocks[g] = unpack(low01, low23, 2, false);
    blocks[g + 1] = unpack(low01, low23, 2, true);
    blocks[g + 2] = unpack(high01, high23, 2, false);
    blocks[g + 3] = unpack(high01, high23, 2, true);
  }
  // Before a round, entry [4 * g + k] holds the rows of 2^round groups for
  // those columns 4 * q + k whose low bits of q are the high bits of g.
  for (int groups = n / 4; groups > 1; groups /= 2) {
    Values next(rows.size());
    const int done = n / 4 / groups;  // Column classes made so far.
    for (int c = 0; c < done; ++c) {
      for (int g = 0; g < groups / 2; ++g) {
        for (int k = 0; k < 4; ++k) {
          Value* a = blocks[4 * (c * groups + 2 * g) + k];
          Value* b = blocks[4 * (c * groups + 2 * g + 1) + k];
          const int even = c * (groups / 2) + g;
          const int odd = (c + done) * (groups / 2) + g;
          next[4 * even + k] =
              ir_.CreateShuffleVector(a, b, block_mask(n, false));
          next[4 * odd + k] =
              ir_.CreateShuffleVector(a, b, block_mask(n, true));
        }
      }
    }
    blocks = next;
  }
  return blocks;
}

}  // namespace fxjit::jit
