// Moving sets of nodes into submodules (torch.fx.passes.utils.fuser_utils).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/passes/tools_common.h"

namespace fxjit::fx::passes {

// False when a path leaves the nodes and comes back: they cannot be computed at
// once. The nodes belong to one graph.
bool validate_partition(std::span<const NodePtr> nodes);

// Replaces each partition by one call of a submodule `prefix` + number, which
// takes what the nodes read from outside and returns what is used outside, a
// tuple when that is more than one value. The graph is then put into
// topological order, as close to the old one as possible, and recompiled. Every
// node belongs to at most one partition.
//
// AssertionError when a node does not belong to `module`, is erased, an input
// or the output, or when the partitions wait for each other in a circle
// ("Invalid partition, found dependency cycles"); nothing has been changed
// then. Linear in the graph, but for sorting.
void fuse_by_partitions(GraphModule& module,
                        const std::vector<std::vector<NodePtr>>& partitions,
                        const std::string& prefix = "fused_",
                        bool always_return_tuple = false);

}  // namespace fxjit::fx::passes
