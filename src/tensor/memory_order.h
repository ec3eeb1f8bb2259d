// In which order the dims of a tensor lie in memory: the rules by which torch
// lays out results of tensors that are not contiguous.
#pragma once

#include <span>

#include "fxjit/tensor.h"

namespace fxjit {

// Whether the elements fill one run of memory without gaps, each element once,
// in some order of the dims.
bool is_dense(const Tensor& tensor);

// Whether no two elements share a place. It is false also for some unusual
// strides that share none.
bool elements_are_apart(const Tensor& tensor);

// Strides of a dense tensor whose dims lie in `order`, outermost first.
Dims strides_in_order(const Dims& sizes, const Dims& order);

// The order, outermost first, in which a loop over several operands walks
// memory best. Two dims are ordered by the strides of the first operand in
// which these differ. `sizes` is the common shape; an operand has stride 0
// along dims that it lacks.
Dims loop_order(const Dims& sizes, std::span<const Dims> strides);

// The same for one tensor.
Dims memory_order(const Tensor& tensor);

// Whether dim 1 of images [N, C, H, W] or [N, C, D, H, W] lies innermost and
// the others in order; gaps may lie between.
bool has_channels_innermost(const Tensor& tensor);

// Whether two layouts of one shape put each element in the same place. Strides
// of dims of one element do not matter, nor any strides if there are no
// elements.
bool same_places(const Dims& sizes, const Dims& a, const Dims& b);

// The strides of a complex tensor's real and imaginary parts, counted in real
// numbers: twice its own. If 64 bits do not hold a stride, this is an error, or
// 1 if no element depends on it.
Dims strides_of_parts(const Tensor& tensor);

// A copy in memory of its own with these strides, which are dense.
Tensor copy_in_layout(const Tensor& tensor, const Dims& strides);

}  // namespace fxjit
