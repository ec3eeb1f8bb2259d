// The one theory of layouts: for every op of the table, in which order of
// memory its results lie that have memory of their own. It says what torch 2.13
// shows: tests/ops/layouts_test.cpp holds every row against it. Where a later
// call decides between a view and a copy, and what others see of a write,
// follows from these strides.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

enum class Layout : uint8_t {
  stated,       // As the row's shape rule or its calls say.
  plain,        // As the shape is read.
  elementwise,  // As a loop over all tensors of the call walks memory best.
  backwards,    // Likewise, the last tensor first.
  first,        // In the order of the first tensor.
  image,        // Channels innermost where the first tensor has them so, in
                // images of two dims; otherwise plain.
  volume,       // Likewise, in images of two and three dims.
  line,         // Likewise, in lines.
  padded,       // As `volume`, otherwise as stated.
  filtered,     // Channels innermost where an image of two dims or its filter
                // has them so, or the filter of a line; otherwise plain.
  joined,       // Channels innermost where all tensors have them so.
  columns,      // Matrices with their columns innermost.
  picked,       // As a loop over the tensor and the indices walks memory best.
  asked,        // As the call's memory format says.
};

Layout layout(const OpCall& call);

// `result`, of meta tensors as a shape rule gives it, with the strides of its
// call. Tensors that are memory of arguments keep theirs.
Value laid_out(const OpCall& call, const Value& result);

// `result` of a kernel in the layout that the call has: tensors that lie
// otherwise and have memory of their own are copied.
Value put_in_layout(const OpCall& call, const Value& result);

// The shape rule alone: results that lie in memory as their shapes are read.
// Compiled programs may lay out what nobody sees as they like.
Value infer_plain(const OpCall& call);

}  // namespace fxjit::ops
