// Memory order of images whose channels are seen as groups of channels, as nets
// with several branches in one convolution do. Part of channels_last.h.
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// An elementwise call that reads no position, and a reduction over `dims`, the
// argument number `at`; none unless all operands of the whole shape lie so.
Value elementwise_of_split(GraphBuilder& builder, const ops::Op& op,
                           const ValueList& args);
Value reduction_of_split(GraphBuilder& builder, const ops::Op& op,
                         const ValueList& args, const Dims& dims, size_t at,
                         bool keep);

}  // namespace fxjit::passes
