// The parts of an attention task, for jit/emit/attention.cpp alone. Queries lie
// in lanes: scores are vectors of one key and many queries, so that maxima and
// sums need no step across lanes. Every part is a function of its own, which
// keeps LLVM's loop passes fast; what they share lies in scratch.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/kernel_plan.h"
#include "src/program/steps.h"

namespace fxjit::jit {

// What all parts emit with: where to, for which step.
struct AttentionContext {
  VectorBuilder& b;
  const program::AttentionStep& step;
  program::AttentionShape shape;

  int vectors() const { return int(shape.block) / b.lanes(); }  // Of queries.
  // Address of f32 row `index`, rows being `stride` elements apart.
  Value* row(Value* base, Value* index, int64_t stride) const {
    return b.offset(base, b.f32(), b.ir().CreateMul(index, b.i64(stride)));
  }
  Value* region(Value* scratch, int64_t at) const {
    return b.offset(scratch, b.f32(), at);
  }
  // Address of the row of query `first + i`, of elements of `type`, from that
  // of row 0. Behind the last query it is that of the last one.
  Value* query_row(Value* base, llvm::Type* type, Value* first, int64_t i,
                   int64_t stride) const;
  // Vectors of scratch, which is aligned to them.
  Value* load(Value* at, int64_t elements = 0) const;
  void store(Value* vector, Value* at, int64_t elements = 0) const;
};

// One task, at the builder's position. Operands point to row 0 of the head.
struct AttentionTask {
  Value *q, *k, *v, *out;
  Values masks;
  Value* first;  // Query in lane 0.
  Value* count;  // Queries there are; the other lanes repeat the last one.
  Value* scratch;
};

// Whether sums over keys are made in one go or key block by key block.
enum class AttentionSums { direct, accumulated };

// The block's queries times the scale, transposed.
void emit_queries(const AttentionContext& context, const AttentionTask& task);

// Applies the masks to the scores of `keys` keys from `key`, one vector per key
// and vector of queries, key by key.
void emit_masks(const AttentionContext& context, const AttentionTask& task,
                Value* key, int64_t keys, Values& scores);

// The scores of one query and lanes() keys from `key`, masked. `elements`: the
// mask's, from row 0 of the head.
Value* emit_masked_keys(const AttentionContext& context,
                        const program::AttentionMask& mask, Value* elements,
                        Value* query, Value* key, Value* score);

// Scores of keys [start, end) with masks applied, and maxima. Accumulated:
// maxima include those before, and factors are what sums so far shrink by.
void emit_scores(const AttentionContext& context, const AttentionTask& task,
                 Value* start, Value* end, AttentionSums how);

// Replaces scores [0, count) by exp(score - maximum) and totals them. Direct:
// factors are the inverse totals. Accumulated: adds to totals times factors.
void emit_exponentials(const AttentionContext& context,
                       const AttentionTask& task, Value* count,
                       AttentionSums how);

// Sums of values weighted with scores [0, count), which are of keys from
// `start`. Direct: times factors, to the output. Accumulated: adds to sums
// times factors.
void emit_values(const AttentionContext& context, const AttentionTask& task,
                 Value* start, Value* count, AttentionSums how);

// A whole task of a step of few queries (AttentionShape::few).
void emit_few_queries(const AttentionContext& context,
                      const AttentionTask& task);

// For accumulated sums: maxima, totals and sums of no keys; and the output,
// sums by totals.
void emit_start(const AttentionContext& context, const AttentionTask& task);
void emit_output(const AttentionContext& context, const AttentionTask& task);

// Four columns as vectors of lanes() rows, `load_row` giving four elements of a
// row. Many small transposes compile faster than few large ones.
inline constexpr int64_t kColumns = 4;
Values transpose_columns(VectorBuilder& b,
                         llvm::function_ref<Value*(int row)> load_row);

// Emits a call with `args` of a new private function whose body `emit` makes;
// constants are handed through.
void emit_part(
    const AttentionContext& context, const char* name, const Values& args,
    llvm::function_ref<void(const AttentionContext&, const Values&)> emit);

// Factors that turn sums into means. A total of zero is that of a query which
// sees no key: its output is zero, or zero times infinity.
Value* inverse_total(const AttentionContext& context, Value* total);

}  // namespace fxjit::jit
