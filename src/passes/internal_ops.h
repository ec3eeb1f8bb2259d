// Ops that only compiled graphs contain. They stand in the op table like any
// other, under names that no user spelling reaches.
#pragma once

#include "fxjit/fx/node.h"
#include "fxjit/op.h"

namespace fxjit::passes {

// (input, sizes, strides, offset): a view of the input's memory, strides and
// offset in elements from the start of that memory.
const ops::Op& as_strided_op();
// (input): a contiguous copy.
const ops::Op& materialize_op();
// (input, strides): a copy in dense memory that is laid out so. Lowered graphs
// do without.
const ops::Op& layout_op();
// (input, source, strides, offset): a contiguous copy of the input, in which the
// elements that a view with these strides and offset of the copy shows are those
// of `source`.
const ops::Op& put_view_op();
// (calls, index): one tensor of a call with several results.
const ops::Op& item_op();
// (after, name, args): the random op of this name, called after the draw whose
// result `after` is, or first when it is None. The argument keeps draws in the
// order of the captured graph.
const ops::Op& draw_op();
// Whether the node is a draw; it is kept if nobody reads it, for those that
// come after it.
bool is_draw(const fx::Node& node);

}  // namespace fxjit::passes
