#include "jit/emit/access.h"

#include <llvm/IR/Constants.h>

#include <cstdlib>

#include "src/program/steps/step_code.h"

namespace fxjit::jit {
namespace {

// With strides up to this, the byte offsets of all lanes of a vector fit 32
// bits, and gathers with 32-bit offsets move twice as many elements.
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

// Adds index * gather_stride to `base`, where `index` is an element of type
// `index_dtype`. Outside [0, gather_limit) the call fails and `base` is kept.
Value* gathered_address(VectorBuilder& b, Value* base, DType dtype,
                        const ArgumentAccess& access, Value* index,
                        DType index_dtype) {
  Value* wide = b.convert(index, index_dtype, DType::i64);
  // Negative numbers are great ones without a sign.
  Value* outside = b.ge(wide, access.gather_limit, /*is_unsigned=*/true);
  b.if_then(outside, [&] { KernelArgs(b).fail(program::kIndexOutOfRange); });
  Value* row = b.select(outside, b.i64(0), wide);
  return b.offset(base, b.memory_type(dtype), b.mul(row, access.gather_stride));
}

}  // namespace

Value* active_mask(VectorBuilder& b, const Place& place) {
  return place.active ? b.tail_mask(place.active, place.lanes) : nullptr;
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
  if (mask == nullptr) return b.load(dtype, address, place.lanes);
  return b.load(dtype, address, mask);
}

void store_at(VectorBuilder& b, DType dtype, int64_t inner_stride, Value* value,
              Value* row, const Place& place) {
  Value* mask = active_mask(b, place);
  if (inner_stride != 1) {
    Value* address = strided_address(b, dtype, inner_stride, row, place);
    return b.scatter(dtype, value, address,
                     strided_indices(b, inner_stride, place.lanes), mask);
  }
  Value* address = b.offset(row, b.memory_type(dtype), place.first);
  b.store(dtype, value, address, mask);
}

StepArguments::StepArguments(VectorBuilder& b, const program::LoopForm& form) {
  const program::ArgumentPlaces places(form);
  Value* data = KernelArgs(b).data();
  const auto argument = [&](size_t at) {
    return load_constant(b, b.i64(), data, at * sizeof(int64_t));
  };
  const auto number = [&](const program::Extent& extent, size_t at) {
    return extent.is_argument() ? argument(at) : b.i64(extent.number());
  };
  const auto stride = [&](const program::Extent& extent, size_t at) {
    return extent == 0 ? nullptr : number(extent, at);
  };
  inner = number(form.inner, places.inner());
  for (size_t d = 0; d < form.outer.size(); ++d)
    outer.push_back(number(form.outer[d], places.outer(d)));
  for (size_t d = 0; d < form.reduce.size(); ++d)
    reduce.push_back(number(form.reduce[d], places.reduce(d)));
  for (size_t i = 0; i < form.operands(); ++i) {
    const program::AccessForm& access = form.access(i);
    ArgumentAccess& read = accesses.emplace_back();
    for (size_t d = 0; d < access.outer.size(); ++d)
      read.outer.push_back(stride(access.outer[d], places.outer(i, d)));
    for (size_t d = 0; d < access.reduce.size(); ++d)
      read.reduce.push_back(stride(access.reduce[d], places.reduce(i, d)));
    read.inner = number(access.inner, places.inner(i));
    if (access.gather_slot < 0) continue;
    read.gather_stride = argument(places.gather_stride(i));
    read.gather_limit = argument(places.gather_limit(i));
  }
}

Values unravel(VectorBuilder& b, Value* linear, const Values& sizes) {
  Values indices(sizes.size(), nullptr);
  if (indices.empty()) return indices;
  for (size_t d = sizes.size() - 1; d > 0; --d) {
    Value* quotient = b.ir().CreateUDiv(linear, sizes[d]);
    indices[d] = b.sub(linear, b.mul(quotient, sizes[d]));
    linear = quotient;
  }
  indices[0] = linear;
  return indices;
}

Value* point_address(VectorBuilder& b, Value* base, DType dtype,
                     const Values& strides, const Values& indices) {
  Value* offset = nullptr;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] == nullptr) continue;
    Value* term = b.mul(indices[d], strides[d]);
    offset = offset == nullptr ? term : b.add(offset, term);
  }
  if (offset == nullptr) return base;
  return b.offset(base, b.memory_type(dtype), offset);
}

Values operand_addresses(VectorBuilder& b, const program::LoopForm& form,
                         const StepArguments& arguments, const Values& operands,
                         size_t count, Values ArgumentAccess::* strides,
                         const Values& point) {
  Values plain;
  for (size_t i = 0; i < count; ++i)
    plain.push_back(point_address(b, operands[i], form.access(i).dtype,
                                  arguments.accesses[i].*strides, point));
  Values all = plain;
  for (size_t i = 0; i < count; ++i) {
    const program::AccessForm& access = form.access(i);
    if (access.gather_slot < 0 || access.gathers_elements) continue;
    const auto slot = size_t(access.gather_slot);
    const DType index_dtype = form.inputs[slot].dtype;
    Value* index = b.load_scalar(index_dtype, plain[slot]);
    all[i] = gathered_address(b, plain[i], access.dtype, arguments.accesses[i],
                              index, index_dtype);
  }
  return all;
}

Value* gather_elements(VectorBuilder& b, const KernelArgs& args, Value* base,
                       DType dtype, const ArgumentAccess& access,
                       Value* indices, DType index_dtype, const Place& place) {
  const auto all = [&](Value* number) { return b.splat(number); };
  Value* wide = b.convert(indices, index_dtype, DType::i64);
  Value* outside = b.ge(wide, all(access.gather_limit), /*is_unsigned=*/true);
  Value* mask = active_mask(b, place);
  Value* bad = mask == nullptr ? outside : b.bit_and(outside, mask);
  b.if_then(b.any(bad), [&] { args.fail(program::kIndexOutOfRange); });
  Value* row = b.select(outside, b.like(wide, 0), wide);
  Value* positions = b.add(all(place.first), b.iota(b.i64()));
  Value* offsets = b.add(b.mul(row, all(access.gather_stride)),
                         b.mul(positions, all(access.inner)));
  return b.gather(dtype, base, offsets, mask);
}

}  // namespace fxjit::jit
