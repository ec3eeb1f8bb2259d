#include "src/program/attention/attention_run.h"

#include <algorithm>
#include <bit>

#include "src/support/rounding.h"
#include "src/weights/panels.h"

namespace fxjit::program {
namespace {

using support::ceil_div;

// Scores of a block of queries are all held at once while they leave room in
// the second-level cache (256 KiB); for longer rows, this many keys at a time.
constexpr int64_t kScoreElements = 64 << 10;
constexpr int64_t kKeyBlock = 256;
// Masks that differ between queries are transposed by so many keys.
constexpr int kMaskKeys = 4;
constexpr size_t kFewMasks = 8;

AttentionMaskForm form_of(const AttentionStep& step,
                          const AttentionMask& mask) {
  using Keys = AttentionMaskForm::Keys;
  AttentionMaskForm form;
  form.kind = mask.kind;
  form.value = mask.value;
  form.by_query = step.queries > 1 && mask.access.row != 0;
  if (step.keys > 1 && mask.key_stride != 1)
    form.keys = mask.key_stride == 0 ? Keys::one : Keys::apart;
  return form;
}

bool mask_by_query(const AttentionKernel& kernel) {
  return std::any_of(kernel.masks.begin(), kernel.masks.end(),
                     [](const auto& mask) { return mask.by_query; });
}

// One vector of queries would be mostly empty.
bool has_few_queries(const AttentionStep& step, int64_t lanes) {
  return step.queries >= 1 && step.queries <= lanes / 2 && !step.causal &&
         step.keys >= lanes && step.queries * step.keys <= kScoreElements;
}

// Vectors of queries handled together. AVX-512 has the registers for one at
// full speed; where a head's keys and values outgrow the second-level cache,
// more vectors read them less often.
int query_vectors(const AttentionStep& step, bool by_query, CpuLevel level) {
  constexpr int64_t kCachedElements = 128 << 10;
  const int64_t lanes = weights::tile_shape(level).lanes;
  if (level != CpuLevel::avx512) return step.queries > lanes ? 2 : 1;
  const int64_t seen = step.causal ? step.keys / 2 : step.keys;
  const bool is_large =
      seen * (step.depth + step.value_depth) > kCachedElements;
  return is_large && step.queries >= 6 * lanes && !by_query ? 3 : 1;
}

// Eight sums hide the latency of additions.
int key_tile(const AttentionStep& step, int vectors, CpuLevel level) {
  constexpr int kHigh = 8;
  const bool is_high = level == CpuLevel::avx512 || vectors == 1;
  const int64_t keys =
      step.causal
          ? std::min(step.keys,
                     vectors * int64_t{weights::tile_shape(level).lanes})
          : step.keys;
  if (is_high && keys >= kHigh) return kHigh;
  return keys >= kMaskKeys ? kMaskKeys : 1;
}

// The greatest power of two up to `most` and `queries`, at least one.
int power_of_two(int64_t queries, int most) {
  int rows = most;
  while (rows > 1 && rows > queries) rows /= 2;
  return rows;
}

int value_rows(const AttentionStep& step, CpuLevel level) {
  const int most = level == CpuLevel::avx512 ? 8 : 4;
  const int rows = power_of_two(step.queries, most);
  return rows < step.queries && rows < most ? rows * 2 : rows;
}

int64_t block_of(const AttentionKernel& kernel, CpuLevel level) {
  return kernel.vectors * int64_t{weights::tile_shape(level).lanes};
}

int64_t key_blocks_of(const AttentionStep& step, int64_t block) {
  const int64_t each =
      step.keys > kScoreElements / block ? kKeyBlock : step.keys;
  return ceil_div(step.keys, std::max<int64_t>(1, each));
}

const std::byte* element(const KernelCall& call, size_t operand, size_t bytes,
                         int64_t elements) {
  return static_cast<const std::byte*>(call.operands[operand]) +
         elements * static_cast<int64_t>(bytes);
}

}  // namespace

AttentionKernel attention_kernel(const AttentionStep& step, CpuLevel level) {
  constexpr int kFewRows = 4;
  AttentionKernel kernel;
  for (const AttentionMask& mask : step.masks)
    kernel.masks.push_back(form_of(step, mask));
  kernel.depth = step.depth;
  kernel.value_depth = step.value_depth;
  kernel.causal = step.causal;
  kernel.zero_rows = step.zero_rows;
  kernel.scale = step.scale;
  kernel.few = has_few_queries(step, weights::tile_shape(level).lanes);
  if (kernel.few) {
    kernel.rows = power_of_two(step.queries, kFewRows);
    return kernel;
  }
  kernel.vectors = query_vectors(step, mask_by_query(kernel), level);
  kernel.key_tile = key_tile(step, kernel.vectors, level);
  kernel.rows = value_rows(step, level);
  kernel.by_key_blocks = key_blocks_of(step, block_of(kernel, level)) > 1;
  return kernel;
}

std::string attention_kernel_key(const AttentionKernel& kernel) {
  std::string text = "attention";
  const auto add = [&](int64_t number) {
    text += " " + std::to_string(number);
  };
  const auto bits = [](float x) { return int64_t{std::bit_cast<uint32_t>(x)}; };
  for (int64_t number :
       {int64_t{kernel.few}, int64_t{kernel.vectors}, int64_t{kernel.key_tile},
        int64_t{kernel.rows}, int64_t{kernel.by_key_blocks}, kernel.depth,
        kernel.value_depth, int64_t{kernel.causal}, int64_t{kernel.zero_rows},
        bits(kernel.scale)})
    add(number);
  for (const AttentionMaskForm& mask : kernel.masks) {
    text += ",";
    add(static_cast<int64_t>(mask.kind));
    add(static_cast<int64_t>(mask.keys));
    add(mask.by_query);
    add(bits(mask.value));
  }
  return text;
}

AttentionScratch attention_scratch(const AttentionKernel& kernel,
                                   CpuLevel level) {
  AttentionScratch scratch;
  const int64_t lanes = weights::tile_shape(level).lanes;
  if (kernel.few) {
    scratch.scores_at = lanes / 2 * lanes;
    return scratch;
  }
  const int64_t block = block_of(kernel, level);
  scratch.maxima_at = kernel.depth * block;
  scratch.totals_at = scratch.maxima_at + block;
  scratch.factors_at = scratch.totals_at + block;
  scratch.sums_at = scratch.factors_at + block;
  scratch.sums_row = ceil_div(kernel.value_depth, lanes) * lanes;
  scratch.scores_at = scratch.sums_at + kernel.key_tile * block;
  if (kernel.by_key_blocks) scratch.scores_at += block * scratch.sums_row;
  return scratch;
}

AttentionShape attention_shape(const AttentionStep& step, CpuLevel level) {
  const AttentionKernel kernel = attention_kernel(step, level);
  const int64_t lanes = weights::tile_shape(level).lanes;
  AttentionShape shape;
  shape.total = attention_scratch(kernel, level).scores_at;
  if (kernel.few) {
    shape.block = step.queries;
    shape.query_blocks = shape.key_blocks = 1;
    shape.scores_row = ceil_div(step.keys, lanes) * lanes;
    shape.total += step.queries * shape.scores_row;
    return shape;
  }
  shape.block = block_of(kernel, level);
  shape.query_blocks = ceil_div(step.queries, shape.block);
  shape.key_blocks = key_blocks_of(step, shape.block);
  shape.total +=
      ceil_div(step.keys, std::max<int64_t>(1, shape.key_blocks)) * shape.block;
  return shape;
}

AttentionRun::AttentionRun(const AttentionStep& step, CpuLevel level)
    : step_(step),
      kernel_(attention_kernel(step, level)),
      shape_(attention_shape(step, level)) {}

// Tasks are numbered batch by batch, head by head, block by block.
AttentionRun::Place AttentionRun::place_of(int64_t task) const {
  const int64_t head = task / shape_.query_blocks;
  const int64_t batch = head / step_.heads;
  return {batch / step_.batch, batch % step_.batch, head % step_.heads,
          task % shape_.query_blocks};
}

void AttentionRun::advance(Place& place) const {
  if (++place.block < shape_.query_blocks) return;
  place.block = 0;
  if (++place.head < step_.heads) return;
  place.head = 0;
  if (++place.batch < step_.batch) return;
  place.batch = 0;
  ++place.outer;
}

namespace {

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

void AttentionRun::place_masks(const KernelCall& call, const Place& place,
                               AttentionMaskCall* masks) const {
  for (size_t i = 0; i < step_.masks.size(); ++i) {
    const AttentionMask& mask = step_.masks[i];
    const bool added = mask.kind == passes::MaskKind::add;
    masks[i] = {element(call, 3 + i, added ? sizeof(float) : 1,
                        offset_of(mask.access, place)),
                mask.access.row, mask.key_stride};
  }
}

void AttentionRun::run(const KernelCall& call, int64_t begin,
                       int64_t end) const {
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
  task.key_blocks = shape_.key_blocks;
  task.scores_row = shape_.scores_row;
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
    task.first = place.block * shape_.block;
    task.count = std::min(shape_.block, step_.queries - task.first);
    place_masks(call, place, masks);
    code_(&task);
    if (!kernel_.causal) continue;
    const int64_t seen = std::min(task.keys, task.first + shape_.block);
    if (special < 0 || place.block == 0)
      special = end_of_special(task, step_.value_depth, seen);
    if (special > seen) add_hidden(task, step_.value_depth, seen, special);
  }
}

void run_attention_step(const KernelCall* call, int64_t begin, int64_t end) {
  static_cast<const AttentionRun*>(call->data)->run(*call, begin, end);
}

}  // namespace fxjit::program
