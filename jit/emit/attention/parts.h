// The parts of an attention task, for jit/emit/attention.cpp alone. Queries lie
// in lanes: scores are vectors of one key and many queries, so that maxima and
// sums need no step across lanes. Every part is a function of its own, which
// keeps LLVM's loop passes fast; what they share lies in scratch.
#pragma once

#include <limits>

#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"
#include "src/program/attention/form.h"

namespace fxjit::jit {

// What all parts emit with: where to, for which kernel, and the task's
// AttentionCall, whose fields are constant while the function runs.
struct AttentionContext {
  // At the beginning of a function whose first argument is the call.
  AttentionContext(VectorBuilder& builder,
                   const program::AttentionForm& emitted);

  VectorBuilder& b;
  const program::AttentionForm& form;
  program::AttentionScratch places;
  Value* last;  // Query of the head.

  int vectors() const { return form.vectors; }  // Of queries.
  int64_t block() const { return int64_t{form.vectors} * b.lanes(); }

  // Fields of the call, by their offsets.
  Value* pointer(size_t field) const { return call_pointer(b, field); }
  Value* number(size_t field) const { return call_number(b, field); }
  // Part of scratch.
  Value* region(int64_t at) const;

  // Address of f32 row `index`, rows being `stride` elements apart.
  Value* row(Value* base, Value* index, Value* stride) const {
    return b.offset(base, b.f32(), b.mul(index, stride));
  }
  Value* row(Value* base, Value* index, int64_t stride) const {
    return row(base, index, b.i64(stride));
  }
  // Number of query `first + i`; behind the last query it is that of the last.
  Value* query(Value* first, int64_t i) const;
  // Vectors of scratch, which is aligned to them.
  Value* load(Value* at, int64_t elements = 0) const {
    return b.load_aligned(b.offset(at, b.f32(), elements));
  }
  void store(Value* vector, Value* at, int64_t elements = 0) const {
    b.store_aligned(vector, b.offset(at, b.f32(), elements));
  }
};

inline constexpr double kMinusInfinity =
    -std::numeric_limits<double>::infinity();
// What a running maximum starts with: a finite number, so that rows of minus
// infinities come out as zeros rather than as NaN.
inline constexpr double kLowest = std::numeric_limits<float>::lowest();

// Whether sums over keys are made in one go or key block by key block.
enum class AttentionSums { direct, accumulated };

// The block's queries times the scale, transposed.
void emit_queries(const AttentionContext& context);

// Applies the masks to the scores of `keys` keys from `key`, one vector per key
// and vector of queries, key by key.
void emit_masks(const AttentionContext& context, Value* key, int64_t keys,
                Values& scores);

// The scores of one query and lanes() keys from `key`, with all masks.
Value* emit_masked_keys(const AttentionContext& context, Value* query,
                        Value* key, Value* score);

// Scores of keys [start, end) with masks applied, and maxima. Accumulated:
// maxima include those before, and factors are what sums so far shrink by.
void emit_scores(const AttentionContext& context, Value* start, Value* end,
                 AttentionSums how);

// Replaces scores [0, count) by exp(score - maximum) and totals them. Direct:
// factors are the inverse totals. Accumulated: adds to totals times factors.
void emit_exponentials(const AttentionContext& context, Value* count,
                       AttentionSums how);

// Sums of values weighted with scores [0, count), which are of keys from
// `start`. Direct: times factors, to the output. Accumulated: adds to sums
// times factors.
void emit_values(const AttentionContext& context, Value* start, Value* count,
                 AttentionSums how);

// A whole task of few queries (AttentionForm::few).
void emit_few_queries(const AttentionContext& context);

// For accumulated sums: maxima, totals and sums of no keys; and the output,
// sums by totals.
void emit_start(const AttentionContext& context);
void emit_output(const AttentionContext& context);

// Four columns as vectors of lanes() rows, `load_row` giving four elements of a
// row. Many small transposes compile faster than few large ones.
inline constexpr int64_t kColumns = 4;
Values transpose_columns(VectorBuilder& b,
                         llvm::function_ref<Value*(int row)> load_row);

// Emits a call with the task and `args` of a new private function whose body
// `emit` makes; constants are handed through.
void emit_part(
    const AttentionContext& context, const char* name, const Values& args,
    llvm::function_ref<void(const AttentionContext&, const Values&)> emit);

// Factors that turn sums into means. A total of zero is that of a query which
// sees no key: its output is zero, or zero times infinity.
Value* inverse_total(const AttentionContext& context, Value* total);

}  // namespace fxjit::jit
