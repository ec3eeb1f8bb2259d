// Copying of elements picked by index tensors. Called by the eager functions of
// gather.cpp and index.cpp; shapes are checked by their shape rules.
#pragma once

#include "fxjit/tensor.h"

namespace fxjit::ops {

// RuntimeError with torch's text.
[[noreturn]] void out_of_bounds(int64_t index, int axis, int64_t size);

// Strides for `rank` dims, those of the tensor but 0 along `axis`.
Dims strides_without(const Tensor& tensor, int axis, int rank);

// Throws RuntimeError with torch's text where `index` cannot pick along `axis`
// of `input`: gather and scatter.
void check_lines(const char* op, const Tensor& input, const Tensor& index,
                 int axis);

// out = input with `axis` replaced by the dims of `indices` (contiguous int64).
// False when an index is out of range; negative ones count from the end only
// if `wrap`. `out` is contiguous.
bool pick_rows(const Tensor& input, int axis, const Tensor& indices, bool wrap,
               const Tensor& out);

// out[p] = input[p with p[axis] = index[p]] for contiguous `out`. RuntimeError
// with torch's text on a bad index.
void pick_along(const Tensor& input, int axis, const Tensor& index,
                const Tensor& out);

// What put_along makes of an element and what stands at its place.
enum class Put { copy, add, multiply };

// out[p with p[axis] = index[p]] = source[p] (or +=, *=), in row-major order.
void put_along(const Tensor& source, int axis, const Tensor& index, Put how,
               const Tensor& out);

}  // namespace fxjit::ops
