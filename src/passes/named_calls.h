// Calls without tensors whose arguments have named sizes (fxjit/size.h): of
// numbers they are constants of the graph.
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// `args` are bound to all parameters of `op`, which draws no numbers.
Value call_of_names(GraphBuilder& builder, const ops::Op& op, ValueList args);

}  // namespace fxjit::passes
