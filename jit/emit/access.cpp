#include "jit/emit/access.h"

#include <llvm/IR/Constants.h>

#include <cstdlib>
#include <limits>

namespace fxjit::jit {
namespace {

// Strides up to here leave byte offsets of a whole vector within 32 bits, of
// which the machine's gathers take twice as many.
constexpr int64_t kNarrowStride = int64_t{1} << 20;

Value* strided_indices(VectorBuilder& b, int64_t stride, int lanes) {
  llvm::Type* type = std::abs(stride) < kNarrowStride ? b.i32() : b.i64();
  Value* iota = b.iota(type, lanes);
  return b.mul(iota, b.integer(iota->getType(), stride));
}

Value* strided_address(VectorBuilder& b, DType dtype, int64_t stride,
                       Value* row, const Place& place) {
  return b.offset(row, b.memory_type(dtype), b.mul(place.first, b.i64(stride)));
}

}  // namespace

Value* active_mask(VectorBuilder& b, const Place& place) {
  if (place.active == place.lanes) return nullptr;
  return b.tail_mask(b.i32(place.active), place.lanes);
}

Value* load_at(VectorBuilder& b, DType dtype, int64_t inner_stride, Value* row,
               const Place& place) {
  if (inner_stride == 0) return b.load_broadcast(dtype, row, place.lanes);
  Value* mask = active_mask(b, place);
  if (inner_stride != 1) {
    Value* address = strided_address(b, dtype, inner_stride, row, place);
    return b.gather(dtype, address,
                    strided_indices(b, inner_stride, place.lanes), mask);
  }
  Value* address = b.offset(row, b.memory_type(dtype), place.first);
  return mask == nullptr ? b.load(dtype, address, place.lanes)
                         : b.load(dtype, address, mask);
}

void store_at(VectorBuilder& b, DType dtype, int64_t inner_stride, Value* value,
              Value* row, const Place& place) {
  Value* mask = active_mask(b, place);
  if (inner_stride != 1) {
    Value* address = strided_address(b, dtype, inner_stride, row, place);
    b.scatter(dtype, value, address,
              strided_indices(b, inner_stride, place.lanes), mask);
    return;
  }
  Value* address = b.offset(row, b.memory_type(dtype), place.first);
  if (mask == nullptr) {
    b.store(dtype, value, address);
  } else {
    b.store(dtype, value, address, mask);
  }
}

Values unravel(VectorBuilder& b, Value* linear, const Dims& sizes) {
  Values indices(size_t(sizes.size()), nullptr);
  if (indices.empty()) return indices;
  // Dividing by a constant is much shorter in 32 bits.
  bool narrow = true;
  int64_t points = 1;
  for (int64_t size : sizes) {
    if (size != 0)
      narrow &= points <= std::numeric_limits<int32_t>::max() / size;
    if (narrow) points *= size;
  }
  narrow &= sizes.size() > 1;
  llvm::Type* type = narrow ? b.i32() : b.i64();
  Value* rest = b.ir().CreateTrunc(linear, type);
  for (int d = sizes.size() - 1; d > 0; --d) {
    Value* size = b.integer(type, std::max<int64_t>(1, sizes[d]));
    Value* quotient = b.ir().CreateUDiv(rest, size);
    indices[size_t(d)] =
        b.ir().CreateZExt(b.sub(rest, b.mul(quotient, size)), b.i64());
    rest = quotient;
  }
  indices[0] = b.ir().CreateZExt(rest, b.i64());
  return indices;
}

Value* point_address(VectorBuilder& b, Value* base, DType dtype,
                     const Dims& strides, const Values& indices) {
  Value* offset = nullptr;
  for (int d = 0; d < strides.size(); ++d) {
    if (strides[d] == 0) continue;
    Value* term = b.mul(indices[size_t(d)], b.i64(strides[d]));
    offset = offset == nullptr ? term : b.add(offset, term);
  }
  if (offset == nullptr) return base;
  return b.offset(base, b.memory_type(dtype), offset);
}

Value* gathered_address(VectorBuilder& b, const KernelArgs& args, Value* base,
                        const program::Access& access, Value* index,
                        DType index_dtype) {
  Value* wide = b.convert(index, index_dtype, DType::i64);
  // Negative numbers are great ones without a sign.
  Value* outside = b.ge(wide, b.i64(access.gather_limit), /*is_unsigned=*/true);
  b.if_then(outside, [&] { args.fail(program::kIndexOutOfRange); });
  Value* row = b.select(outside, b.i64(0), wide);
  return b.offset(base, b.memory_type(access.dtype),
                  b.mul(row, b.i64(access.gather_stride)));
}

Value* gather_elements(VectorBuilder& b, const KernelArgs& args, Value* base,
                       const program::Access& access, Value* indices,
                       DType index_dtype, const Place& place) {
  Value* wide = b.convert(indices, index_dtype, DType::i64);
  Value* outside = b.ge(wide, b.integer(wide->getType(), access.gather_limit),
                        /*is_unsigned=*/true);
  Value* mask = active_mask(b, place);
  Value* bad = mask == nullptr ? outside : b.bit_and(outside, mask);
  b.if_then(b.any(bad), [&] { args.fail(program::kIndexOutOfRange); });
  Value* row = b.select(outside, b.like(wide, 0), wide);
  Value* positions =
      b.add(b.splat(place.first, place.lanes), b.iota(b.i64(), place.lanes));
  Value* offsets =
      b.add(b.mul(row, b.integer(wide->getType(), access.gather_stride)),
            b.mul(positions, b.integer(wide->getType(), access.inner)));
  return b.gather(access.dtype, base, offsets, mask);
}

}  // namespace fxjit::jit
