// Which elementwise calls a convolution's kernel can do to its sums.
#pragma once

#include <optional>

#include "fxjit/op.h"
#include "src/ops/eager/post_ops.h"

namespace fxjit::ops {

// The call as work on the elements of its argument `at`, its other arguments
// being numbers or, where `tensor` is 0, one more tensor. None where kernels do
// not know the work. Tensors of the call may be graph nodes.
std::optional<PostOp> post_op_of(const OpCall& call, size_t at);

}  // namespace fxjit::ops
