// What grouping and planning ask about the loops of a node: strides over a
// domain, reduced dims, batch dims. Pure functions of the lowered form.
#pragma once

#include <vector>

#include "fxjit/fx/node.h"
#include "fxjit/scalar_body.h"

namespace fxjit::passes {

// Whether a node is computed by tiles or windows, with elementwise work on its
// sums; whether it is by windows, or by what resizes images as they do.
bool is_contraction(const fx::Node& node);
bool is_window(const fx::Node& node);
// Batch dims of a contraction: leading dims that its weight has too; images of
// a convolution.
int contraction_batch_dims(const fx::Node& contract);

// Dims [first, last) step uniformly: element i of the flattened dims is at
// i * stride. Returns the stride, or -1 when they do not. 0 when all are 1.
Size uniform_stride(const Dims& sizes, const Dims& strides, int first,
                    int last);

// Strides of `t` seen as a tensor of the shape `domain`, 0 where it broadcasts.
Dims broadcast_strides(const Tensor& t, const Dims& domain);

// Whether the epilogue of a contraction can compute elements of the type: those
// of a tile must fill no more vectors than its sums, a window's are floats.
bool can_compute_beside(const fx::Node& contraction, DType dtype);
// Whether the loops of a contraction can read `t` beside its sums.
bool can_read_beside(const fx::Node& contraction, const Tensor& t);

// Whether `dims`, in increasing order, are the last ones of `rank`.
bool trailing(const std::vector<int>& dims, int rank);

// Dims that a Lowering::reduce node reduces, in increasing order.
std::vector<int> reduced_dims(const fx::Node& node);

// Whether a Lowering::gather node picks whole rows of its first dim.
bool is_row_gather(const fx::Node& node);
// Whether it has an index for each element.
bool is_element_gather(const fx::Node& node);

// What an elementwise node computes. The inputs are its tensors in order.
ScalarBody body_of(const fx::Node& node);

// Whether an elementwise node's values depend on their place in the loops.
bool has_index(const ScalarBody& body);
bool uses_index(const fx::Node& node);

// Whether an elementwise node divides integers by what may be zero, which is an
// error for the interpreter and nothing that generated code looks at.
bool may_divide_by_zero(const fx::Node& node);

}  // namespace fxjit::passes
