// Arithmetic on sizes and strides that the view families share. All functions
// return meta tensors that describe views of the argument's storage.
#pragma once

#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

// Other sizes and strides at the same offset.
Tensor view_of(const Tensor& input, const Dims& sizes, const Dims& strides);

// `shape` with its -1 replaced; RuntimeError with torch's texts when it does
// not hold `elements`.
Dims resolved_shape(const Dims& shape, Size elements);
// A view when strides allow it, else what a contiguous copy has.
Tensor reshaped(const Tensor& input, const Dims& sizes);
Tensor expanded(const Tensor& input, const Dims& sizes);
Tensor unsqueezed(const Tensor& input, int axis);
Tensor selected(const Tensor& input, int axis, Size index);
// Bounds as in Python: any integers, None for the ends; step at least 1.
Tensor sliced(const Tensor& input, int axis, const Value& start,
              const Value& stop, Size step);
// Elements [start, start + length) along `axis`, which must exist.
Tensor range_of(const Tensor& input, int axis, Size start, Size length);

}  // namespace fxjit::ops
