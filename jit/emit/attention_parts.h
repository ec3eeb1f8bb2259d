// The parts of an attention task, for jit/emit/attention.cpp alone. Queries lie
// in lanes: scores are vectors of one key and many queries, so that maxima and
// sums need no step across lanes.
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
  int alignment() const { return b.lanes() * int(sizeof(float)); }
  // Rows, in elements, from `base` of floats.
  Value* row(Value* base, Value* index, int64_t stride) const {
    return b.offset(base, b.f32(), b.ir().CreateMul(index, b.i64(stride)));
  }
};

// One task, at the builder's position. Operands point to row 0 of the head;
// scratch regions are as in AttentionShape.
struct AttentionTask {
  Value *q, *k, *v, *mask, *out;
  Value* first;  // Query in lane 0.
  Value* count;  // Queries there are; the other lanes repeat the last one.
  Value *queries, *scores, *factors, *sums;
};

// Scores of keys [start, end) with masks applied, to scratch. Returns the
// maxima so far, one vector per vector of queries.
Values emit_scores(const AttentionContext& context, const AttentionTask& task,
                   Value* start, Value* end, const Values& maxima);

// Replaces scores [0, count) by exp(score - maximum) and returns the sums.
Values emit_exponentials(const AttentionContext& context,
                         const AttentionTask& task, Value* count,
                         const Values& maxima);

// The sums of values weighted with `count` scores, from key `start`. Direct:
// times the task's factors, to the output. Accumulated: sums = sums * factors +
// new ones.
enum class ValueSums { direct, accumulated };
void emit_values(const AttentionContext& context, const AttentionTask& task,
                 Value* start, Value* count, ValueSums how);

// out = sums * factors, after the last accumulation.
void emit_output(const AttentionContext& context, const AttentionTask& task);

}  // namespace fxjit::jit
