// Pooling of images whose channels lie innermost keeps them there.
#pragma once

#include "src/ops/pool_kernel.h"
#include "src/passes/graph_builder.h"

namespace fxjit::passes {

// (input, average, kernel_size, stride, padding, dilation, count_include_pad,
// divisor, output): [N, C, ...] with channels innermost, f32, to a contiguous
// [N, ..., C]. `output` is the logical result's shape.
const ops::Op& pool_last_op();
ops::PoolParams pool_last_params(const ops::OpCall& call);

// The lowered form of pooling with channels innermost; none for other calls.
Value lower_pool(GraphBuilder& builder, const ops::Op& op,
                 const ValueList& args);

}  // namespace fxjit::passes
