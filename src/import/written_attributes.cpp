#include "src/import/written_attributes.h"

#include "src/fx/graph/node_aliasing.h"

namespace fxjit::import {
namespace {

using fx::Node;
using fx::Opcode;

// Nodes in whose memory the call may write: batch norms in training write other
// arguments than the first.
std::vector<const Node*> written_by(const Node& node) {
  const ops::Op* const op = node.called_op();
  const bool first_only = op && op->row.purity == ops::Purity::mutates;
  if (first_only && node.arg_node(0)) return {node.arg_node(0)};
  if (!node.is_impure(false)) return {};
  std::vector<const Node*> inputs;
  for (const Node* input : node.all_input_nodes()) inputs.push_back(input);
  return inputs;
}

}  // namespace

std::unordered_set<std::string> written_attributes(const fx::Graph& graph) {
  std::vector<const Node*> open;
  for (const Node* node : graph.nodes())
    if (node->is(Opcode::call_function))
      for (const Node* written : written_by(*node)) open.push_back(written);
  std::unordered_set<const Node*> seen;
  std::unordered_set<std::string> attributes;
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->is(Opcode::get_attr)) attributes.emplace(node->target_name());
    if (!fx::may_alias(*node)) continue;
    for (const Node* input : node->all_input_nodes()) open.push_back(input);
  }
  return attributes;
}

}  // namespace fxjit::import
