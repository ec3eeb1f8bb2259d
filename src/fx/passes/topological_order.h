// Topological orders of sets of nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

// Sorts `nodes`, which are of one graph with ids below `id_bound`. Of the nodes
// that may come next, the one that stands first in `nodes` does. The result is
// shorter than `nodes` if there is a cycle.
std::vector<NodePtr> topological_order(const std::vector<NodePtr>& nodes,
                                       uint32_t id_bound);

}  // namespace fxjit::fx::passes
