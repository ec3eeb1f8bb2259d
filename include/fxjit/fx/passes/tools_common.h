// What several passes need: the order of graphs, and groups of nodes that pass
// each other what is no tensor (torch.fx.passes.tools_common).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

// Moves the nodes of the graph into topological order; of those that could come
// next, the one that stood first does. AssertionError "Input graph has cycles,
// unable to add [...]", with nothing moved, when there is no such order.
void stable_topological_sort(Graph& graph);
// As above, and recompiles.
void stable_topological_sort(GraphModule& module);

// Moves the nodes into topological order, breadth first, without regard to the
// order in which they stood; operators like "+" go first, which often compute
// sizes. The output stays last. RuntimeError, with nothing moved, on a cycle.
// Recompiles.
void legalize_graph(GraphModule& module);

// A call of a function, method or module.
inline bool is_callable_node(const Node& node) {
  return node.is(Opcode::call_function) || node.is(Opcode::call_method) ||
         node.is(Opcode::call_module);
}

// Whether ShapeProp saw one tensor as the result of this node. False for nodes
// that it has not seen.
bool is_node_output_tensor(const Node& node);

using NodeGroup =
    std::shared_ptr<const std::vector<NodePtr>>;  // In graph order.
// The group of each node that has one.
using NodeGroups = std::unordered_map<const Node*, NodeGroup>;

// Groups of calls that must stay together so that only tensors pass between a
// group and the rest: each call whose result holds no tensor, with those that
// use it and those that give it such results. Groups have no way out and back
// in again. Reads what ShapeProp recorded.
//
// `acc_nodes`: the nodes that may be grouped; those of a group that is not
// wholly among them are taken out of it, and get no group.
NodeGroups find_fusion_groups(const GraphModule& module,
                              std::vector<NodePtr>& acc_nodes);

}  // namespace fxjit::fx::passes
