// Says for every op of the table how results that have memory of their own are
// laid out. This is the only place that knows it. The rules are those of torch
// 2.13, with which tests/ops/layouts_test.cpp compares every row. They matter
// because strides decide whether a later call gives a view or a copy, and so
// what a later write changes.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// The rule for a call. It depends on the op and on some of its arguments.
Layout layout(const OpCall& call);

// `result`, meta tensors as a shape rule gives them, with the strides that the
// call's layout gives. Tensors that share memory with arguments keep theirs.
Value laid_out(const OpCall& call, const Value& result);

// `result` of an eager function in the call's layout. Tensors in another order
// are copied, unless they share memory with arguments.
Value put_in_layout(const OpCall& call, const Value& result);

// The result of the shape rule alone, which is contiguous. For compiled
// programs, which choose the order of values that the user does not see.
Value infer_plain(const OpCall& call);

}  // namespace fxjit::ops
