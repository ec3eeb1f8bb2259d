// Ops that only compiled graphs contain. They stand in the op table like any
// other, under names that no user spelling reaches.
#pragma once

#include "fxjit/op.h"

namespace fxjit::passes {

// (input, sizes, strides, offset): a view of the input's memory, strides and
// offset in elements from the start of that memory.
const ops::Op& as_strided_op();
// (input): a contiguous copy.
const ops::Op& materialize_op();
// (calls, index): one tensor of a call with several results.
const ops::Op& item_op();

}  // namespace fxjit::passes
