#include "jit/emit/windows/group_lanes.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace fxjit::jit {

using program::WindowNumber;

GroupVectors::GroupVectors(const WindowParts& parts)
    : parts_(parts),
      b_(parts.b),
      results_(parts.number(WindowNumber::multiplier)),
      block_(parts.number(WindowNumber::weight_block)),
      blocks_(b_.ir().CreateUDiv(parts.arguments.inner, block_)),
      groups_of_block_(b_.ir().CreateUDiv(block_, results_)) {}

void GroupVectors::each(Body body) const {
  b_.loop(b_.i64(0), blocks_, b_.i64(1), [&](Value* i) {
    Value* begin = b_.mul(i, block_);
    Value* group = b_.mul(i, groups_of_block_);
    if (parts_.form.spread != 0) return along_whole(begin, body);
    parts_.form.vector_groups > 1 ? along_mixed(begin, group, body)
                                  : along_groups(begin, group, body);
  });
}

void GroupVectors::along_groups(Value* begin, Value* group, Body body) const {
  Value* lanes = b_.i64(parts_.lanes * parts_.form.vectors);
  Value* last = b_.sub(results_, lanes);
  b_.loop(b_.i64(0), groups_of_block_, b_.i64(1), [&](Value* g) {
    Value* first = b_.add(begin, b_.mul(g, results_));
    b_.loop(b_.i64(0), results_, lanes, [&](Value* i) {
      Value* before = b_.min(i, last);
      body({b_.add(first, before), begin, b_.add(group, g), before});
    });
  });
}

void GroupVectors::along_whole(Value* begin, Body body) const {
  Value* lanes = b_.i64(parts_.lanes);
  Value* last = b_.sub(block_, lanes);
  b_.loop(b_.i64(0), block_, lanes, [&](Value* i) {
    Value* first = b_.add(begin, b_.min(i, last));
    Value* group = b_.ir().CreateUDiv(first, b_.i64(parts_.form.spread));
    body({first, begin, group, b_.i64(0)});
  });
}

void GroupVectors::along_mixed(Value* begin, Value* group, Body body) const {
  Value* count = parts_.number(WindowNumber::block_vectors);
  b_.loop(b_.i64(0), count, b_.i64(1), {begin, group, b_.i64(0)},
          [&](Value*, const Values& at) {
            const GroupVector vector{at[0], begin, at[1], at[2]};
            body(vector);
            return next_of(vector);
          });
}

// First result, group, and results of it before.
Values GroupVectors::next_of(const GroupVector& vector) const {
  const int64_t groups = parts_.form.vector_groups;
  Value* zero = b_.i64(0);
  Value* lanes = b_.i64(parts_.lanes);
  Value* first = b_.add(vector.first, lanes);
  Value* group = vector.group;
  Value* before = b_.add(vector.before, lanes);
  const auto move = [&](Value* moves, int64_t by) {
    Value* results = by > 0 ? results_ : b_.sub(zero, results_);
    group = b_.add(group, b_.select(moves, b_.i64(by), zero));
    before = b_.sub(before, b_.select(moves, results, zero));
  };
  for (int64_t k = 0; k < groups; ++k) move(b_.ge(before, results_), 1);
  Value* latest = b_.sub(b_.mul(results_, b_.i64(groups)), lanes);
  Value* end = b_.sub(b_.add(vector.begin, block_), lanes);
  Value* back =
      b_.max(zero, b_.max(b_.sub(before, latest), b_.sub(first, end)));
  first = b_.sub(first, back), before = b_.sub(before, back);
  for (int64_t k = 0; k < groups; ++k) move(b_.lt(before, zero), -1);
  return {first, group, before};
}

GroupLanes::GroupLanes(const WindowParts& parts, const GroupVector& vector,
                       Value* groups, bool mixed)
    : parts_(parts), form_(parts.form), b_(parts.b), group_(vector.group) {
  if (!mixed || form_.spread != 0) return;
  Value* results = parts.number(WindowNumber::multiplier);
  Value* channels = parts.number(WindowNumber::group_channels);
  // Vectors need not reach so many groups, of which the image may have fewer.
  Value* last = b_.sub(b_.sub(groups, b_.i64(1)), group_);
  Value* behind = b_.sub(b_.i64(-1), vector.before);
  for (int64_t k = 1; k < form_.vector_groups; ++k) {
    offsets_.push_back(b_.mul(b_.min(b_.i64(k), last), channels));
    behind = b_.add(behind, results);
    signs_.push_back(
        b_.sub(b_.splat(b_.ir().CreateTrunc(behind, b_.i32()), parts_.lanes),
               b_.iota(b_.i32(), parts_.lanes)));
  }
}

Value* GroupLanes::input_of(Value* image) const {
  Value* channel = b_.mul(group_, parts_.number(WindowNumber::group_channels));
  return parts_.floats(
      image, b_.mul(channel, parts_.number(WindowNumber::channel_step)));
}

GroupLanes::Channel GroupLanes::channel(Value* c) const {
  if (!form_.dense_channels) return {nullptr, {b_.i64(0)}};
  if (form_.spread == 0) {
    Channel channel{nullptr, {c}};
    for (Value* offset : offsets_) channel.places.push_back(b_.add(c, offset));
    return channel;
  }
  std::vector<llvm::Constant*> firsts;
  for (int lane = 0; lane < parts_.lanes; ++lane)
    firsts.push_back(
        b_.ir().getInt32(uint32_t(lane / form_.spread * form_.spread)));
  return {b_.add(llvm::ConstantVector::get(firsts),
                 b_.splat(b_.ir().CreateTrunc(c, b_.i32()), parts_.lanes)),
          {}};
}

Value* GroupLanes::elements(Value* at, const Channel& channel) const {
  if (channel.order != nullptr)
    return permuted(b_.load_raw(b_.vec(b_.f32(), parts_.lanes), at),
                    channel.order);
  const auto repeated = [&](Value* place) {
    return b_.load_broadcast(DType::f32, parts_.floats(at, place),
                             parts_.lanes);
  };
  Value* result = repeated(channel.places[0]);
  for (size_t k = 0; k < signs_.size(); ++k)
    result =
        b_.select_negative(signs_[k], repeated(channel.places[k + 1]), result);
  return result;
}

// Within four lanes a permutation takes less time.
Value* GroupLanes::permuted(Value* elements, Value* order) const {
  constexpr int kFour = 4;
  const bool whole = b_.level() == CpuLevel::avx2 && parts_.lanes == b_.lanes();
  if (!whole || form_.spread > kFour) return b_.permute(elements, order);
  return b_.ir().CreateIntrinsic(llvm::Intrinsic::x86_avx_vpermilvar_ps_256, {},
                                 {elements, order});
}

}  // namespace fxjit::jit
