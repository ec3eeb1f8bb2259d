// Groups of supported nodes for a partitioner that joins a node with those that
// use it, and nothing else.
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

// From the last node to the first, a supported node joins the groups of its
// users, in their order, where no path leaves the joined group and comes back.
// In order of `id`. Nodes with users in several groups cost a search for such
// paths, from both ends at once, until one end has nothing more to look at.
std::vector<VerticalGroup> vertical_groups(
    const Graph& graph, const std::function<bool(const Node&)>& is_supported);

}  // namespace fxjit::fx::passes
