// Memory order of lowered graphs. Convolutions give tensors whose channels (dim
// 1) lie innermost; calls on such tensors are run on views in memory order, so
// that every node stays contiguous and logical order is a permuted view of it.
// So are calls on images whose channels are seen as two dims, [N, groups,
// channels, ...] over memory [N, ..., groups, channels].
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Whether dim 1 is innermost and the others lie in order, [N, C, ...] over
// memory [N, ..., C]; false where both orders describe the tensor.
bool is_channels_last(const Tensor& t);

// Views of [N, C, ...] as [N, ..., C] and back.
Value channels_to_back(GraphBuilder& builder, const Value& x);
Value channels_to_front(GraphBuilder& builder, const Value& x);

// An elementwise call, a reduction over dims, or a cat of tensors with channels
// last, computed in memory order; none for other calls.
Value lower_channels_last(GraphBuilder& builder, const ops::Op& op,
                          const ValueList& args);

}  // namespace fxjit::passes
