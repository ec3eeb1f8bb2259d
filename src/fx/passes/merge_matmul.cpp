#include "fxjit/fx/passes/merge_matmul.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx/passes/tools_common.h"
#include "fxjit/fx/symbolic_trace.h"
#include "src/fx/passes/replace_uses.h"

namespace fxjit::fx::passes {
namespace {

Value split_result_tensors(const ValueList& args, const Kwargs&) {
  if (args.size() != 2 || !args[1].is_sequence())
    throw TypeError("split_result_tensors() takes a tensor and a list");
  ValueList sizes;
  for (const Value& input : args[1].as_sequence())
    sizes.push_back(input.as_tensor().size(0));
  return function("torch.split", {args[0], Value::list(std::move(sizes))});
}

const Function& split_function() {
  static const Function& function = define_function(
      "torch.fx.experimental.merge_matmul.split_result_tensors",
      split_result_tensors);
  return function;
}

// Products with one right side.
using Group = std::vector<NodePtr>;

std::vector<Group> groups_of(const Graph& graph) {
  std::vector<Group> groups;
  // A name for each right side: of the node, or of the attribute it reads.
  std::unordered_map<std::string, size_t> known;
  for (NodePtr node : graph.nodes()) {
    if (!node->is(Opcode::call_function) ||
        node->target_name() != "torch.matmul" || node->args().size() != 2 ||
        !node->kwargs().empty())
      continue;
    const Node* const right = node->arg_node(1);
    if (!right || !node->arg_node(0)) continue;
    const std::string name = right->is(Opcode::get_attr)
                                 ? std::string(right->target_name())
                                 : "%" + std::string(right->name());
    const auto [entry, added] = known.try_emplace(name, groups.size());
    if (added) groups.emplace_back();
    groups[entry->second].push_back(node);
  }
  return groups;
}

// Whether one of them needs another, directly or not.
bool are_independent(const Group& products, uint32_t id_bound) {
  std::vector<bool> seen(id_bound), inside(id_bound);
  for (const Node* node : products) inside[node->id()] = true;
  Group pending = products;
  while (!pending.empty()) {
    const NodePtr node = pending.back();
    pending.pop_back();
    for (const NodePtr input : node->all_input_nodes()) {
      if (inside[input->id()]) return false;
      if (seen[input->id()]) continue;
      seen[input->id()] = true;
      pending.push_back(input);
    }
  }
  return true;
}

void merge(Graph& graph, const Group& group) {
  const InsertScope scope = graph.inserting_before(graph.output_node());
  ValueList lefts;
  for (const Node* node : group) lefts.push_back(node->arg(0));
  NodePtr right = group[0]->arg_node(1);
  if (right->is(Opcode::get_attr)) {
    const NodePtr read = graph.create_node(Opcode::get_attr, right->target());
    read->copy_meta_from(*right);
    right = read;
  }
  const Value left_list = Value::list(lefts);
  const NodePtr whole = graph.call_function("torch.cat", {left_list});
  const NodePtr product = graph.call_function("torch.matmul", {whole, right});
  const NodePtr parts =
      graph.call_function(split_function(), {product, left_list});
  std::vector<std::pair<NodePtr, NodePtr>> results;
  for (NodePtr node : group)
    results.emplace_back(
        node,
        graph.call_function("operator.getitem",
                            {parts, static_cast<int64_t>(results.size())}));
  replace_uses(results);
  for (NodePtr node : group) graph.erase_node(node);
}

}  // namespace

nn::Ref<GraphModule> merge_matmul(nn::Module& model) {
  const nn::Ref<GraphModule> traced = symbolic_trace(model);
  Graph& graph = traced->graph();
  for (const Group& group : groups_of(graph)) {
    if (group.size() < 2 ||
        !are_independent(group, graph.id_bound()))
      continue;
    merge(graph, group);
    legalize_graph(*traced);
  }
  traced->recompile();
  return traced;
}

}  // namespace fxjit::fx::passes
