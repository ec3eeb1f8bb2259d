// Convolutions with the elementwise work that follows them, done while their
// sums are in registers or caches:
//
//   y = conv_last(x, ...)        ==>     z = conv_last_work(x, ..., body, [w])
//   z = relu(y + w)
//
// where y is read only there. Work that the loops behind convolutions know
// (src/ops/eager/post_ops.h) is done in registers; other work is generated, and
// pays unless loops that come then can do it.
#pragma once

#include "src/passes/model_graph.h"

namespace fxjit::passes {

// Rewrites a lowered graph; returns the number of convolutions with work.
int fuse_conv_work(ModelGraph& model);

}  // namespace fxjit::passes
