// The parts of an attention task, for jit/emit/attention.cpp alone. Queries lie
// in the lanes: a vector has the scores of one key and many queries, so maxima
// and sums need no step across lanes. Each part is a function of its own,
// because LLVM's loop passes are fast on small functions; parts share their
// data through the task's scratch.
#pragma once

#include <limits>

#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"
#include "src/program/attention/form.h"

namespace fxjit::jit {

// What all parts are emitted with: the builder, the form of the kernel, and the
// task's AttentionCall, whose fields do not change while the function runs.
struct AttentionContext {
  // Must be made at the beginning of a function whose first argument is the
  // call.
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
  // The number of query `first + i` in the head, or of the last query if that
  // one does not exist.
  Value* query(Value* first, int64_t i) const;
  // Load and store vectors of scratch at aligned addresses.
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

// Whether weighted values are summed over all keys at once, or key block by key
// block ("accumulated").
enum class AttentionSums { direct, accumulated };

// Writes the block's queries, times the scale and transposed, to scratch.
void emit_queries(const AttentionContext& context);

// Applies the masks to `scores`, which are of `keys` keys from `key` on: for
// each key, one vector for each vector of queries.
void emit_masks(const AttentionContext& context, Value* key, int64_t keys,
                Values& scores);

// Applies all masks to `score`, the scores of one query and lanes() keys from
// `key` on.
Value* emit_masked_keys(const AttentionContext& context, Value* query,
                        Value* key, Value* score);

// Writes the masked scores of keys [start, end) and their maxima to scratch. If
// accumulated, the maxima include those of earlier key blocks, and the factors
// by which earlier sums shrink are written too.
void emit_scores(const AttentionContext& context, Value* start, Value* end,
                 AttentionSums how);

// Replaces scores [0, count) by exp(score - maximum) and sums them. If direct,
// writes the inverses of the totals as factors. If accumulated, adds to the
// earlier totals times their factors.
void emit_exponentials(const AttentionContext& context, Value* count,
                       AttentionSums how);

// Sums the values weighted with scores [0, count), which are those of the keys
// from `start` on. If direct, writes the sums times their factors to the
// output. If accumulated, adds them to the earlier sums times their factors.
void emit_values(const AttentionContext& context, Value* start, Value* count,
                 AttentionSums how);

// A whole task of few queries (AttentionForm::few).
void emit_few_queries(const AttentionContext& context);

// For accumulated sums. emit_start writes the maxima, totals and sums of no
// keys; emit_output writes the sums divided by the totals.
void emit_start(const AttentionContext& context);
void emit_output(const AttentionContext& context);

// Transposes four elements of each of lanes() rows, which `load_row` gives,
// into four vectors, one for each column. Many small transposes compile faster
// than few large ones.
inline constexpr int64_t kColumns = 4;
Values transpose_columns(VectorBuilder& b,
                         llvm::function_ref<Value*(int row)> load_row);

// Emits a call of a new private function with the task and `args`. `emit` makes
// its body and is given the arguments; constants among them stay constants.
void emit_part(
    const AttentionContext& context, const char* name, const Values& args,
    llvm::function_ref<void(const AttentionContext&, const Values&)> emit);

// The factors that turn sums into means. A total of zero means that the query
// sees no key; its factor is zero or infinity, so that the output is zero or
// NaN.
Value* inverse_total(const AttentionContext& context, Value* total);

}  // namespace fxjit::jit
