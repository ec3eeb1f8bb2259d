// The reductions of a ScalarBody on vectors: identity, one step, and all lanes
// to one scalar. Used by the row and column skeletons.
#pragma once

#include "fxjit/scalar_body.h"
#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// What a reduction starts with. Max and min of nothing are the lowest and
// highest value.
Value* reduction_identity(VectorBuilder& b, const ScalarInstr& instr,
                          int lanes);

// `accumulator` after `value`; lanes that are off in `mask` (null: none) keep
// it. Floats: max and min keep NaN.
Value* reduction_step(VectorBuilder& b, const ScalarInstr& instr,
                      Value* accumulator, Value* value, Value* mask);

// All lanes to one scalar, always in the same order.
Value* reduce_lanes(VectorBuilder& b, const ScalarInstr& instr, Value* vector);

}  // namespace fxjit::jit
