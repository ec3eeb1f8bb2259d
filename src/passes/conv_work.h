// Convolutions with the elementwise work that follows them, done while their
// sums are in registers or caches:
//
//   y = conv_last(x, ...)        ==>     z = conv_last_work(x, ..., work, [w])
//   z = relu(y + w)
//
// where y is read only there and the kernels know the work (post_ops.h).
#pragma once

#include "src/passes/model_graph.h"

namespace fxjit::passes {

// (input, weight, bias, stride, pad_before, pad_after, dilation, transposed,
// output_padding, groups, work, extras): conv_last's arguments, what is done
// to its sums, and the tensors that this reads.
const ops::Op& conv_last_work_op();

// Rewrites a lowered graph; returns the number of convolutions with work.
int fuse_conv_work(ModelGraph& model);

}  // namespace fxjit::passes
