// Calls without tensors: constants of the graph, unless their arguments have
// named sizes (fxjit/size.h).
#pragma once

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// `args` are bound to all parameters of `op`, which draws no numbers.
Value call_without_tensors(GraphBuilder& builder, const ops::Op& op,
                           ValueList args);

}  // namespace fxjit::passes
