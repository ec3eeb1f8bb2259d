// What lowering does to the operands of integer products.
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// A factor of 8 bits and its zero point, none for zero.
struct IntegerFactor {
  Value numbers, zero;
};

bool is_byte(DType dtype);

// The wrapping sums of i32 of a product of integers of 16 bits, [batch..., M,
// K] by [batch..., K, N], batches broadcast.
Value short_sums(GraphBuilder& builder, const Value& x, const Value& w);

// A constant factor that is s8 without its zero point, so; others as they are.
IntegerFactor without_zero(GraphBuilder& builder, const IntegerFactor& factor);

// The sums of x times a constant matrix w without what the zero points add.
// That of x is one number, or one for each row.
Value without_zeros(GraphBuilder& builder, const Value& sums,
                    const IntegerFactor& x, const IntegerFactor& w);

}  // namespace fxjit::passes
