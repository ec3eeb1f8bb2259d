#include "src/program/attention/form.h"

#include <algorithm>
#include <bit>

#include "src/program/attention/step.h"
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

bool mask_by_query(const AttentionForm& form) {
  return std::any_of(form.masks.begin(), form.masks.end(),
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

int64_t block_of(const AttentionForm& form, CpuLevel level) {
  return form.vectors * int64_t{weights::tile_shape(level).lanes};
}

int64_t key_blocks_of(const AttentionStep& step, int64_t block) {
  const int64_t each =
      step.keys > kScoreElements / block ? kKeyBlock : step.keys;
  return ceil_div(step.keys, std::max<int64_t>(1, each));
}

}  // namespace

AttentionForm attention_form(const AttentionStep& step, CpuLevel level) {
  constexpr int kFewRows = 4;
  AttentionForm form;
  for (const AttentionMask& mask : step.masks)
    form.masks.push_back(form_of(step, mask));
  form.depth = step.depth;
  form.value_depth = step.value_depth;
  form.causal = step.causal;
  form.zero_rows = step.zero_rows;
  form.scale = step.scale;
  form.few = has_few_queries(step, weights::tile_shape(level).lanes);
  if (form.few) {
    form.rows = power_of_two(step.queries, kFewRows);
    return form;
  }
  form.vectors = query_vectors(step, mask_by_query(form), level);
  form.key_tile = key_tile(step, form.vectors, level);
  form.rows = value_rows(step, level);
  form.by_key_blocks = key_blocks_of(step, block_of(form, level)) > 1;
  return form;
}

std::string form_key(const AttentionForm& form) {
  std::string text = "attention";
  const auto add = [&](int64_t number) {
    text += " " + std::to_string(number);
  };
  const auto bits = [](float x) { return int64_t{std::bit_cast<uint32_t>(x)}; };
  for (int64_t number :
       {int64_t{form.few}, int64_t{form.vectors}, int64_t{form.key_tile},
        int64_t{form.rows}, int64_t{form.by_key_blocks}, form.depth,
        form.value_depth, int64_t{form.causal}, int64_t{form.zero_rows},
        bits(form.scale)})
    add(number);
  for (const AttentionMaskForm& mask : form.masks) {
    text += ",";
    add(static_cast<int64_t>(mask.kind));
    add(static_cast<int64_t>(mask.keys));
    add(mask.by_query);
    add(bits(mask.value));
  }
  return text;
}

AttentionScratch attention_scratch(const AttentionForm& form, CpuLevel level) {
  AttentionScratch scratch;
  const int64_t lanes = weights::tile_shape(level).lanes;
  if (form.few) {
    scratch.scores_at = lanes / 2 * lanes;
    return scratch;
  }
  const int64_t block = block_of(form, level);
  scratch.maxima_at = form.depth * block;
  scratch.totals_at = scratch.maxima_at + block;
  scratch.factors_at = scratch.totals_at + block;
  scratch.sums_at = scratch.factors_at + block;
  scratch.sums_row = ceil_div(form.value_depth, lanes) * lanes;
  scratch.scores_at = scratch.sums_at + form.key_tile * block;
  if (form.by_key_blocks) scratch.scores_at += block * scratch.sums_row;
  return scratch;
}

AttentionShape attention_shape(const AttentionStep& step, CpuLevel level) {
  const AttentionForm form = attention_form(step, level);
  const int64_t lanes = weights::tile_shape(level).lanes;
  AttentionShape shape;
  shape.total = attention_scratch(form, level).scores_at;
  if (form.few) {
    shape.block = step.queries;
    shape.query_blocks = shape.key_blocks = 1;
    shape.scores_row = ceil_div(step.keys, lanes) * lanes;
    shape.total += step.queries * shape.scores_row;
    return shape;
  }
  shape.block = block_of(form, level);
  shape.query_blocks = ceil_div(step.queries, shape.block);
  shape.key_blocks = key_blocks_of(step, shape.block);
  shape.total +=
      ceil_div(step.keys, std::max<int64_t>(1, shape.key_blocks)) * shape.block;
  return shape;
}

}  // namespace fxjit::program
