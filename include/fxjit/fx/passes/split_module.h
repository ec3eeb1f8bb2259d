// split_module: cuts a graph into partitions, each a graph module of its own
// that the new graph calls (torch.fx.passes.split_module).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

struct SplitOptions {
  // Call the partitions in the order in which the graph first enters them,
  // instead of in an order that follows from what they need of each other.
  bool keep_original_order = false;
  // Nodes keep their names; otherwise they are named after what they call.
  bool keep_original_node_name = false;
  // Inputs of partitions are called as the nodes they come from; otherwise
  // "arg_0", "arg_1", ...
  bool keep_original_input_name = true;
  // Partitions are called "submod_<affix>_<id>"; without, "submod_<id>".
  std::string partition_affix = {};
  // Partitions return a tuple also when they have one result.
  bool tuple_return = false;
};

// New target names below the result and the names in the module that was split.
using QualnameMap = std::vector<std::pair<std::string, std::string>>;

// A module that computes the same as `m` by calling submodules "submod_<id>",
// with each call in the partition that `split_callback` gives for it. `m` is
// not changed; modules and parameters are shared with it. The callback is asked
// once for every call, in graph order.
//
// RuntimeError "cycle exists between partitions!" when two partitions need
// results of each other. KeyError naming a node when, with keep_original_order,
// a partition would be called before the one that makes this node.
// AttributeError when a target is missing. Thread-safe beside other reads of
// `m`.
nn::Ref<GraphModule> split_module(
    const GraphModule& m,
    const std::function<int64_t(const Node&)>& split_callback,
    const SplitOptions& options = {}, QualnameMap* qualname_map = nullptr);

}  // namespace fxjit::fx::passes
