#include "src/program/attention/form.h"

#include <algorithm>
#include <bit>

#include "fxjit/error.h"
#include "src/program/attention/step.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;

// All scores of a block of queries are held at once if they are at most this
// many, 256 KiB of the second-level cache. For longer rows, scores of kKeyBlock
// keys at a time are held.
constexpr int64_t kScoreElements = 64 << 10;
constexpr int64_t kKeyBlock = 256;
// Masks that differ between queries are transposed this many keys at a time.
constexpr int kMaskKeys = 4;

bool differs_by_query(const AttentionStep& step, const AttentionMask& mask) {
  return step.queries > 1 && mask.access.row != 0;
}

AttentionMaskForm form_of(const AttentionStep& step,
                          const AttentionMask& mask) {
  using Keys = AttentionMaskForm::Keys;
  AttentionMaskForm form;
  form.kind = mask.kind;
  form.value = mask.value;
  form.by_query = differs_by_query(step, mask);
  if (step.keys > 1 && mask.key_stride != 1)
    form.keys = mask.key_stride == 0 ? Keys::one : Keys::apart;
  return form;
}

bool has_mask_by_query(const AttentionStep& step) {
  return std::any_of(
      step.masks.begin(), step.masks.end(),
      [&](const AttentionMask& mask) { return differs_by_query(step, mask); });
}

// Whether the queries would leave half of a vector or more empty, so that keys
// take the lanes.
bool has_few_queries(const AttentionStep& step, int64_t lanes) {
  return step.queries >= 1 && step.queries <= lanes / 2 && !step.causal &&
         step.keys >= lanes && step.queries * step.keys <= kScoreElements;
}

// The number of vectors of queries in a block. On AVX-512 one vector runs at
// full speed with the registers that there are; three are better once the keys
// and values of a head outgrow the second-level cache, because fewer blocks
// read them.
int query_vectors(const AttentionStep& step, CpuLevel level) {
  constexpr int64_t kCachedElements = 128 << 10;
  const int64_t lanes = support::vector_lanes(level);
  if (level != CpuLevel::avx512) return step.queries > lanes ? 2 : 1;
  const int64_t seen = step.causal ? step.keys / 2 : step.keys;
  const bool is_large =
      seen * (step.depth + step.value_depth) > kCachedElements;
  return is_large && step.queries >= 6 * lanes && !has_mask_by_query(step) ? 3
                                                                           : 1;
}

// Keys whose scores are summed side by side: eight sums hide the latency of
// additions.
int key_tile(const AttentionStep& step, int vectors, CpuLevel level) {
  constexpr int kHigh = 8;
  const bool is_high = level == CpuLevel::avx512 || vectors == 1;
  const int64_t keys =
      step.causal
          ? std::min(step.keys, vectors * int64_t{support::vector_lanes(level)})
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

// Without AVX-512 a block has few queries, and each four of them read all
// values of a key block: these stay in the first-level cache, and so do the
// scores.
int64_t keys_of_block(const AttentionStep& step, int64_t block,
                      CpuLevel level) {
  constexpr int64_t kNearKeys = 64, kNearElements = 4 << 10;
  if (level != CpuLevel::avx512 && step.keys > kNearKeys &&
      step.keys * step.value_depth > kNearElements)
    return kNearKeys;
  return step.keys > kScoreElements / block ? kKeyBlock : step.keys;
}

int64_t key_blocks_of(const AttentionStep& step, int64_t block,
                      CpuLevel level) {
  const int64_t each = keys_of_block(step, block, level);
  return ceil_div(step.keys, std::max<int64_t>(1, each));
}

}  // namespace

AttentionShape attention_shape(const AttentionStep& step, CpuLevel level) {
  constexpr int kFewRows = 4;
  const int64_t lanes = support::vector_lanes(level);
  AttentionShape shape;
  shape.few = has_few_queries(step, lanes);
  if (shape.few) {
    shape.rows = power_of_two(step.queries, kFewRows);
    shape.block = step.queries;
    shape.query_blocks = shape.key_blocks = 1;
    shape.scores_row = ceil_div(step.keys, lanes) * lanes;
    return shape;
  }
  shape.vectors = query_vectors(step, level);
  shape.key_tile = key_tile(step, shape.vectors, level);
  shape.rows = value_rows(step, level);
  shape.block = shape.vectors * lanes;
  shape.query_blocks = ceil_div(step.queries, shape.block);
  shape.key_blocks = key_blocks_of(step, shape.block, level);
  return shape;
}

AttentionForm attention_form(const AttentionStep& step) {
  FXJIT_CHECK(step.shape.key_blocks > 0 || step.keys == 0,
              "attention: the step was not analysed");
  AttentionForm form;
  for (const AttentionMask& mask : step.masks)
    form.masks.push_back(form_of(step, mask));
  form.depth = step.depth;
  form.value_depth = step.value_depth;
  form.causal = step.causal;
  form.zero_rows = step.zero_rows;
  form.scale = step.scale;
  form.few = step.shape.few;
  form.vectors = step.shape.vectors;
  form.key_tile = step.shape.key_tile;
  form.rows = step.shape.rows;
  form.by_key_blocks = step.shape.key_blocks > 1;
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
  const int64_t lanes = support::vector_lanes(level);
  if (form.few) {
    scratch.scores_at = lanes / 2 * lanes;
    return scratch;
  }
  const int64_t block = form.vectors * lanes;
  scratch.maxima_at = form.depth * block;
  scratch.totals_at = scratch.maxima_at + block;
  scratch.factors_at = scratch.totals_at + block;
  scratch.sums_at = scratch.factors_at + block;
  scratch.sums_row = ceil_div(form.value_depth, lanes) * lanes;
  scratch.scores_at = scratch.sums_at + form.key_tile * block;
  if (form.by_key_blocks) scratch.scores_at += block * scratch.sums_row;
  return scratch;
}

}  // namespace fxjit::program
