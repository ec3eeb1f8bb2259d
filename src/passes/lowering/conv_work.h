// Convolutions with the elementwise work that follows them, done while their
// sums are in registers or caches:
//
//   y = conv_last(x, ...)        ==>     z = conv_last_work(x, ..., body, [w])
//   z = relu(y + w)
//
// where y is read only there and the loops behind convolutions can do what the
// body says (src/ops/eager/post_ops.h).
#pragma once

#include "src/passes/model_graph.h"

namespace fxjit::passes {

// Rewrites a lowered graph; returns the number of convolutions with work.
int fuse_conv_work(ModelGraph& model);

}  // namespace fxjit::passes
