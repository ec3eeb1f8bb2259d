// The form of attention's kernel, how a step is cut into tasks, and the
// structures that the kernel reads at each call. Lengths, strides and masks are
// arguments, so that batches and sequences of all sizes share a few kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/attention/mask.h"
#include "src/program/steps/fields.h"

namespace fxjit::program {

struct AttentionStep;

struct AttentionMaskCall {
  const std::byte* first;  // Of query 0 and key 0 of the head.
  int64_t row;             // Elements from query to query.
  int64_t key;             // Elements from key to key.
};

// The arguments of one task. Pointers point to row 0 of the head; strides of
// rows are in elements.
struct AttentionCall {
  const float *q, *k, *v;
  float* out;
  const AttentionMaskCall* masks;
  float* scratch;
  int64_t q_row, k_row, v_row, out_row;
  int64_t queries, keys;  // Of the head.
  int64_t first;          // Query of the block.
  int64_t count;          // Queries of the block that there are.
  int64_t key_blocks;
  int64_t scores_row;
};

using AttentionFn = void (*)(const AttentionCall* call);

// What the kernel knows of a mask. Its sizes and strides are arguments.
struct AttentionMaskForm {
  enum class Keys : uint8_t { one, together, apart };  // Stride 0, 1, any.
  passes::MaskKind kind = passes::MaskKind::add;
  Keys keys = Keys::together;
  bool by_query = false;  // Differs between queries.
  float value = 1;

  friend bool operator==(const AttentionMaskForm&,
                         const AttentionMaskForm&) = default;
};

// How a step is cut into tasks. The first four fields are those of
// AttentionForm.
struct AttentionShape {
  bool few = false;
  int32_t vectors = 1;
  int32_t key_tile = 1;
  int32_t rows = 1;
  int64_t block = 0;         // Queries of a task.
  int64_t query_blocks = 0;  // Of a head.
  int64_t key_blocks = 0;    // Block i starts at key i * keys / key_blocks.
  int64_t scores_row = 0;    // Few queries: keys rounded up to whole vectors.

  friend bool operator==(const AttentionShape&,
                         const AttentionShape&) = default;
};

template <typename V>
void fields(Is<AttentionShape> auto& s, V& v) {
  v("few", s.few), v("vectors", s.vectors), v("key_tile", s.key_tile);
  v("rows", s.rows), v("block", s.block), v("query_blocks", s.query_blocks);
  v("key_blocks", s.key_blocks), v("scores_row", s.scores_row);
}

AttentionShape attention_shape(const AttentionStep& step, CpuLevel level);

// The form of the kernel of one task. A task is a block of queries of one head,
// with queries in the lanes; or, if `few` is set, all queries of a head, with
// keys in the lanes.
struct AttentionForm {
  using Fn = AttentionFn;

  bool few = false;
  int vectors = 1;  // Of queries in a block; none with few queries.
  // Keys whose scores are summed side by side. A task has at least as many
  // keys.
  int key_tile = 1;
  // Queries whose weighted values are summed side by side. With `few`, a task
  // has at least as many queries.
  int rows = 1;
  bool by_key_blocks = false;  // Scores of some keys are held at a time.
  int64_t depth = 0;           // Of q and k.
  int64_t value_depth = 0;     // Of v and out.
  std::vector<AttentionMaskForm> masks;
  bool causal = false;
  bool zero_rows = true;
  float scale = 1;

  friend bool operator==(const AttentionForm&, const AttentionForm&) = default;
};

// The form of a step that was analysed.
AttentionForm attention_form(const AttentionStep& step);

// Text that is equal for equal forms.
std::string form_key(const AttentionForm& form);

// Where the regions of a thread's scratch begin, in floats from its start. The
// scores come last, because their size alone is an argument.
struct AttentionScratch {
  int64_t queries_at = 0;  // [depth][block], scaled.
  int64_t maxima_at = 0;   // [block], of the scores so far; few: [query][lanes]
  int64_t totals_at = 0;   // [block], sums of exponentials so far
  int64_t factors_at = 0;  // [block], what the sums are multiplied with
  int64_t sums_at = 0;     // [block][sums_row]; none without key blocks.
  int64_t sums_row = 0;    // Value depth rounded up to whole vectors.
  // [key][block], behind key_tile rows that tiles may overwrite; with `few`:
  // [query][scores_row].
  int64_t scores_at = 0;
};
AttentionScratch attention_scratch(const AttentionForm& form, CpuLevel level);

}  // namespace fxjit::program
