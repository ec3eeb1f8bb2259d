// The reductions of a ScalarBody on vectors: identity, one step, and all lanes
// to one scalar. Used by the row and column skeletons.
#pragma once

#include "fxjit/scalar_body.h"
#include "jit/emit/vector_builder.h"
#include "src/program/rows/schedule.h"

namespace fxjit::jit {

// What a reduction starts with. Max and min of nothing are the lowest and
// highest value.
Value* reduction_identity(VectorBuilder& b, const ScalarInstr& instr,
                          int lanes);

// Whether the maximum of numbers and NaN must be NaN.
enum class NanRule { keep, ignore };

// That of the reduction `id` of a row's body.
NanRule nan_rule(const program::RowSchedule& schedule, int32_t id);

// `accumulator` after `value`; lanes that are off in `mask` (null: none) keep
// it.
Value* reduction_step(VectorBuilder& b, const ScalarInstr& instr,
                      Value* accumulator, Value* value, Value* mask,
                      NanRule nan = NanRule::keep);

// All lanes to one scalar, always in the same order.
Value* reduce_lanes(VectorBuilder& b, const ScalarInstr& instr, Value* vector,
                    NanRule nan = NanRule::keep);

}  // namespace fxjit::jit
