// First pass: a captured graph and the shapes of one call become a normalised
// ModelGraph. Leaf modules are run through their forward, methods and every
// spelling become canonical calls with all parameters bound, sizes become
// numbers, equal calls are merged and dead ones dropped.
#pragma once

#include <span>

#include "fxjit/fx/graph_module.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

// `inputs`: the placeholders' values, tensors (real or meta) or anything else;
// tensors inside containers become one placeholder each, in order of
// appearance. Throws UserError naming op, node and source for wrong shapes, and
// NotImplementedError for what compiled graphs cannot hold (functions outside
// the op table, calls that change their arguments).
ModelGraph normalize(const fx::GraphModule& module,
                     std::span<const Value> inputs);

}  // namespace fxjit::passes
