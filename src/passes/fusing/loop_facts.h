// Facts about the loops of a node, for grouping and planning: strides over a
// domain, reduced dims, batch dims. Pure functions of the lowered graph.
#pragma once

#include <vector>

#include "fxjit/fx/node.h"
#include "fxjit/scalar_body.h"

namespace fxjit::passes {

// Whether a node is computed by tiles or windows, with elementwise work on its
// sums; whether it is by windows, or by what resizes images as they do.
bool is_contraction(const fx::Node& node);
bool is_window(const fx::Node& node);
// Whether a contraction's weights are the arguments of fxjit.blocked_product
// behind the input: codes, scales, zero points or none, and three numbers.
bool is_blocked(const fx::Node& contract);
// The number of batch dims of a contraction: the leading dims that its weight
// has as well, or for a convolution the dim of images.
int contraction_batch_dims(const fx::Node& contract);
// The number of last dims of its result that are the columns: one, or all
// places of planes.
int contraction_column_dims(const fx::Node& contract);

// Dims [first, last) step uniformly: element i of the flattened dims is at
// i * stride. Returns the stride, or -1 when they do not. 0 when all are 1.
Size uniform_stride(const Dims& sizes, const Dims& strides, int first,
                    int last);

// The strides of `t` expanded to the shape `domain`, 0 along dims that
// broadcast.
Dims broadcast_strides(const Tensor& t, const Dims& domain);

// Whether the epilogue of a contraction can compute elements of this dtype. In
// tiles they must fill no more vectors than the sums; windows compute f32 only.
bool can_compute_beside(const fx::Node& contraction, DType dtype);
// Whether the epilogue of a contraction can read `t` beside its sums.
bool can_read_beside(const fx::Node& contraction, const Tensor& t);

// Whether `dims`, which are in increasing order, are the last dims of `rank`.
bool trailing(const std::vector<int>& dims, int rank);

// Dims that a Lowering::reduce node reduces, in increasing order.
std::vector<int> reduced_dims(const fx::Node& node);

// Whether a gather picks whole rows of its table's first dim.
bool is_row_gather(const fx::Node& node);
// Whether a gather has an index for each element.
bool is_element_gather(const fx::Node& node);

// The body of an elementwise node. Its inputs are the node's tensors, in order.
ScalarBody body_of(const fx::Node& node);

// Whether the body reads the positions of elements.
bool has_index(const ScalarBody& body);
bool uses_index(const fx::Node& node);

// Whether an elementwise node divides integers by a tensor that may have a
// zero. The interpreter throws then; generated code does not check.
bool may_divide_by_zero(const fx::Node& node);

}  // namespace fxjit::passes
