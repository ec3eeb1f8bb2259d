// Says for every op of the table how results that have memory of their own are
// laid out. This is the only place that knows it. The rules are those of torch
// 2.13, with which tests/ops/layouts_test.cpp compares every row. They matter
// because strides decide whether a later call gives a view or a copy, and so
// what a later write changes.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// The order in memory of a result's dims. "Contiguous" is row-major order;
// "channels last" has dim 1 innermost. "First" is the first tensor among the
// arguments.
enum class Layout : uint8_t {
  // As the row's shape rule, or the calls that the op is composed of, say.
  stated,
  // Contiguous.
  plain,
  // As torch's loop over all tensors of the call orders dims (loop_order).
  elementwise,
  // Like `elementwise`, with the tensors in reverse order.
  backwards,
  // In the order of the first tensor.
  first,
  // Channels last if the first tensor is [N, C, H, W] and channels last, else
  // contiguous.
  image,
  // Like `image`, also for [N, C, D, H, W].
  volume,
  // Like `image`, for [N, C, L].
  line,
  // Like `volume`, but as stated if the first tensor is not channels last.
  padded,
  // Convolutions: channels last if the image [N, C, H, W] or its filter is, or
  // if the filter of [N, C, L] is; else contiguous.
  filtered,
  // Channels last if all tensors are.
  joined,
  // Column-major matrices.
  columns,
  // As torch's loop over the tensor and its index tensors orders dims.
  picked,
  // In the call's memory format.
  asked,
};

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
