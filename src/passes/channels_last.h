// Memory order in lowered graphs. Convolutions give tensors with channels (dim
// 1) innermost. Calls on such tensors are made on views in memory order, so
// that every node is contiguous, and the logical order is a permuted view of
// it. The same is done for images whose channels are seen as two dims: [N,
// groups, channels, ...] over memory [N, ..., groups, channels].
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Whether dim 1 is innermost in memory and the other dims are in order: [N, C,
// ...] over memory [N, ..., C]. False if the logical order describes the same
// memory.
bool is_channels_last(const Tensor& t);

// Views of [N, C, ...] as [N, ..., C], and back.
Value channels_to_back(GraphBuilder& builder, const Value& x);
Value channels_to_front(GraphBuilder& builder, const Value& x);

// Lowers an elementwise call, a reduction over dims, or a cat of tensors with
// channels last: it is computed in memory order. None for other calls.
Value lower_channels_last(GraphBuilder& builder, const ops::Op& op,
                          const ValueList& args);

}  // namespace fxjit::passes
