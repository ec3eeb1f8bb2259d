// Groups nodes for the partitioner: a supported node is joined only with nodes
// that use its result, never with unrelated ones. Used by partitioner.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

struct VerticalGroup {
  int64_t id = 0;
  std::vector<NodePtr> nodes;  // In graph order.
};

// The groups, in order of `id`. Nodes are visited from the last to the first. A
// supported node joins the groups of its users, in their order, as long as no
// path leads out of the joined group and back into it. To find such paths, the
// graph is searched from both ends at once until one search ends.
std::vector<VerticalGroup> vertical_groups(
    const Graph& graph, const std::function<bool(const Node&)>& is_supported);

}  // namespace fxjit::fx::passes
