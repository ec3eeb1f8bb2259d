#include "src/program/attention/run.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace fxjit::program {
namespace {

constexpr size_t kFewMasks = 8;

const std::byte* element(const StepCall& call, size_t operand, size_t bytes,
                         int64_t elements) {
  return static_cast<const std::byte*>(call.operands[operand]) +
         elements * static_cast<int64_t>(bytes);
}

bool is_finite(const float* values, int64_t count) {
  constexpr uint32_t kSpecial = 0x7f800000;  // The exponent of NaN, infinities.
  uint32_t special = 0;
  for (int64_t i = 0; i < count; ++i)
    special |= (std::bit_cast<uint32_t>(values[i]) & kSpecial) == kSpecial;
  return special == 0;
}

// One past the last key from `first` on whose value holds NaN or an infinity;
// `first` if there is none.
int64_t end_of_special(const AttentionCall& task, int64_t depth,
                       int64_t first) {
  for (int64_t key = task.keys; key > first; --key)
    if (!is_finite(task.v + (key - 1) * task.v_row, depth)) return key;
  return first;
}

// Adds the values of keys that the task's queries do not see, times zero: none,
// or NaN.
void add_hidden(const AttentionCall& task, int64_t depth, int64_t begin,
                int64_t end) {
  for (int64_t i = 0; i < depth; ++i) {
    float sum = 0;
    for (int64_t key = begin; key < end; ++key)
      sum += 0.0f * task.v[key * task.v_row + i];
    for (int64_t query = task.first; query < task.first + task.count; ++query)
      task.out[query * task.out_row + i] += sum;
  }
}

template <typename Place>
int64_t offset_of(const HeadAccess& access, const Place& place) {
  return place.outer * access.outer + place.batch * access.batch +
         place.head * access.head;
}

}  // namespace

AttentionRun::AttentionRun(const AttentionStep& step)
    : step_(step), form_(attention_form(step)) {}

// Tasks are numbered batch by batch, head by head, block by block.
AttentionRun::Place AttentionRun::place_of(int64_t task) const {
  const int64_t head = task / step_.shape.query_blocks;
  const int64_t batch = head / step_.heads;
  return {batch / step_.batch, batch % step_.batch, head % step_.heads,
          task % step_.shape.query_blocks};
}

void AttentionRun::advance(Place& place) const {
  if (++place.block < step_.shape.query_blocks) return;
  place.block = 0;
  if (++place.head < step_.heads) return;
  place.head = 0;
  if (++place.batch < step_.batch) return;
  place.batch = 0;
  ++place.outer;
}

void AttentionRun::place_masks(const StepCall& call, const Place& place,
                               AttentionMaskCall* masks) const {
  for (size_t i = 0; i < step_.masks.size(); ++i) {
    const AttentionMask& mask = step_.masks[i];
    const bool added = mask.kind == passes::MaskKind::add;
    masks[i] = {element(call, 3 + i, added ? sizeof(float) : 1,
                        offset_of(mask.access, place)),
                mask.access.row, mask.key_stride};
  }
}

void AttentionRun::run(const StepCall& call, int64_t begin, int64_t end) const {
  if (begin >= end) return;
  AttentionMaskCall few[kFewMasks];
  std::vector<AttentionMaskCall> many;
  AttentionMaskCall* masks = few;
  if (step_.masks.size() > kFewMasks) {
    many.resize(step_.masks.size());
    masks = many.data();
  }
  const auto floats = [&](size_t operand, const HeadAccess& access,
                          const Place& place) {
    return static_cast<float*>(call.operands[operand]) +
           offset_of(access, place);
  };
  AttentionCall task{};
  task.masks = masks;
  task.scratch = reinterpret_cast<float*>(call.scratch);
  task.q_row = step_.q.row;
  task.k_row = step_.k.row;
  task.v_row = step_.v.row;
  task.out_row = step_.out.row;
  task.queries = step_.queries;
  task.keys = step_.keys;
  task.key_blocks = step_.shape.key_blocks;
  task.scores_row = step_.shape.scores_row;
  // Hidden keys weigh zero, and zero times NaN is NaN: the kernels leave out
  // the keys behind a block of queries, which counts only where these are
  // special.
  int64_t special = -1;  // See end_of_special; not known yet.
  Place place = place_of(begin);
  for (; begin < end; ++begin, advance(place)) {
    task.q = floats(0, step_.q, place);
    task.k = floats(1, step_.k, place);
    task.v = floats(2, step_.v, place);
    task.out = floats(3 + step_.masks.size(), step_.out, place);
    task.first = place.block * step_.shape.block;
    task.count = std::min(step_.shape.block, step_.queries - task.first);
    place_masks(call, place, masks);
    code_(&task);
    if (!form_.causal) continue;
    const int64_t seen = std::min(task.keys, task.first + step_.shape.block);
    if (special < 0 || place.block == 0)
      special = end_of_special(task, step_.value_depth, seen);
    if (special > seen) add_hidden(task, step_.value_depth, seen, special);
  }
}

void run_attention_step(const StepCall* call, int64_t begin, int64_t end) {
  static_cast<const AttentionRun*>(call->data)->run(*call, begin, end);
}

}  // namespace fxjit::program
