// In which order the dims of a tensor lie in memory: the rules by which torch
// lays out results of tensors that are not contiguous.
#pragma once

#include <span>

#include "fxjit/tensor.h"

namespace fxjit {

// Whether the elements fill one run of memory, each once, in some order of the
// dims.
bool is_dense(const Tensor& tensor);

// Whether no two elements share a place; false, too, for some unusual orders of
// places that do not.
bool elements_are_apart(const Tensor& tensor);

// Strides of a dense tensor whose dims lie in `order`, outermost first.
Dims strides_in_order(const Dims& sizes, const Dims& order);

// The order, outermost first, in which a loop over operands of the shape
// `sizes` walks memory best: by the strides of the first operand that tells
// two dims apart. Operands have a stride of 0 along dims that they lack.
Dims loop_order(const Dims& sizes, std::span<const Dims> strides);

// The same for one tensor.
Dims memory_order(const Tensor& tensor);

// Whether dim 1 of images [N, C, H, W] or [N, C, D, H, W] lies innermost and
// the others in order; gaps may lie between.
bool has_channels_innermost(const Tensor& tensor);

// Whether two layouts of a shape put each element in the same place: strides of
// dims of one element, or of no elements at all, mean nothing.
bool same_places(const Dims& sizes, const Dims& a, const Dims& b);

// The strides, in numbers, of the parts of a complex tensor: twice its own. What
// 64 bits do not hold is an error, or 1 where the stride reaches nothing.
Dims strides_of_parts(const Tensor& tensor);

// A copy in memory of its own with these strides, which are dense.
Tensor copy_in_layout(const Tensor& tensor, const Dims& strides);

}  // namespace fxjit
