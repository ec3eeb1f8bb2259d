// Topological orders of sets of nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

// `nodes`, of one graph with ids below `id_bound`, in topological order; of
// those that could come next, the one that stood first in `nodes` does. Shorter
// than `nodes` when there is a cycle.
std::vector<NodePtr> topological_order(const std::vector<NodePtr>& nodes,
                                       uint32_t id_bound);

}  // namespace fxjit::fx::passes
