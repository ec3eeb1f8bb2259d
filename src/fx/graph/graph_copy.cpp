// Copying nodes and graphs.
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx {
namespace {

[[noreturn]] void fail_unmapped(const Node& input) {
  throw KeyError("[graph_copy %" + std::string(input.name()) +
                     "] value: expected a node copied before, got one that "
                     "comes later or from another graph",
                 input.error_context());
}

}  // namespace

NodePtr Graph::copy_node_with_args(const Node& node, ValueList args,
                                   Kwargs kwargs) {
  node.refuse_erased();
  const NodePtr copy = create_node(node.op_, node.target_, std::move(args),
                                   std::move(kwargs), node.name_);
  copy->copy_meta_from(node);
  return copy;
}

NodePtr Graph::node_copy(const Node& node) {
  return node_copy(node, [](NodePtr input) { return input; });
}

// Before the first node is copied: a refused copy changes nothing.
void Graph::check_copyable(const Graph& source, const ValueMap& map) {
  std::vector<bool> seen(source.id_bound());
  for (const Node* node : source.nodes()) {
    if (!map.contains(node))
      for (const Node* input : node->all_input_nodes())
        if (!map.contains(input) &&
            (input->graph_ != &source || !seen[input->id_]))
          fail_unmapped(*input);
    if (node->op_ == Opcode::output) return;
    seen[node->id_] = true;
  }
}

Value Graph::graph_copy(const Graph& source, ValueMap& map) {
  check_copyable(source, map);
  auto mapped = [&](NodePtr input) {
    const auto found = map.find(input);
    if (found == map.end()) fail_unmapped(*input);
    return found->second;
  };
  if (source.nodes().empty()) return None;
  // A graph copied into itself grows behind this one.
  const Node* const last = source.nodes().back();
  for (NodePtr node : source.nodes()) {
    if (node->op_ == Opcode::output && !map.contains(node))
      return map_value(node->args_[0], mapped);
    if (!map.contains(node)) map.emplace(node, node_copy(*node, mapped));
    if (node == last) break;
  }
  return None;
}

std::unique_ptr<Graph> Graph::copy() const {
  auto graph = std::make_unique<Graph>();
  std::vector<NodePtr> copies(id_bound());
  auto mapped = [&](NodePtr input) {
    if (input->graph_ != this || !copies[input->id_]) fail_unmapped(*input);
    return copies[input->id_];
  };
  for (const Node* node : nodes()) {
    if (!node->is(Opcode::output) || node->args_.empty()) {
      copies[node->id_] = graph->node_copy(*node, mapped);
      continue;
    }
    // As torch: the output gets its usual name, and nothing follows it.
    graph->output(map_value(node->args_[0], mapped))->copy_meta_from(*node);
    break;
  }
  graph->codegen_ = codegen_;
  graph->body_transform_ = body_transform_;
  return graph;
}

}  // namespace fxjit::fx
