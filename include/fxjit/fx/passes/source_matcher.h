// get_source_partitions: the nodes that one function or layer was broken up
// into, for passes that work on those again
// (torch.fx.passes.utils.source_matcher_utils).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

struct SourcePartition {
  std::vector<NodePtr> nodes;  // All lists are in graph order.
  std::string source;
  // What the partition reads, less its attributes.
  std::vector<NodePtr> input_nodes;
  // Nodes of the partition that others use, less attributes.
  std::vector<NodePtr> output_nodes;
  // Attributes among the nodes.
  std::vector<NodePtr> params;
};

// By source, in the order in which the graph has them.
using SourcePartitions =
    std::vector<std::pair<std::string, std::vector<SourcePartition>>>;

// One partition for each use of a wanted source. A node belongs to
//  - the last entry of meta["source_fn_stack"], a list of tuples of a name,
//  which
//    tells uses apart, and the source's name; else
//  - meta["torch_fn"], a tuple of a name and "<module>.<source>"; else
//  - for calls of functions, the innermost module in which it was traced, whose
//    type is the source ("Linear") and whose path the name.
// With `filter`, partitions for whose nodes it does not always hold are left
// out. Linear in the graph.
SourcePartitions get_source_partitions(
    const Graph& graph, const std::vector<std::string>& wanted_sources,
    const std::function<bool(const Node&)>& filter = nullptr);

// Whether some node of `second` uses one of `first`.
bool check_subgraphs_connected(const SourcePartition& first,
                               const SourcePartition& second);

}  // namespace fxjit::fx::passes
