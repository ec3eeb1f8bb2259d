#include "fxjit/fx/passes/fuser_utils.h"

#include <algorithm>
#include <unordered_map>

#include "src/fx/passes/node_order.h"
#include "src/fx/passes/replace_uses.h"
#include "src/fx/passes/topological_order.h"

namespace fxjit::fx::passes {
namespace {

constexpr size_t kNoVertex = SIZE_MAX;

void check_nodes(const GraphModule& module, const std::vector<NodePtr>& nodes) {
  for (const Node* node : nodes) {
    const std::string name(node->name());
    if (&node->graph() != &module.graph())
      throw AssertionError(name + " doesn't belong to passed in graph module " +
                               module.type_name(),
                           node->error_context());
    if (node->erased())
      throw AssertionError(name + " has been removed from owning graph",
                           node->error_context());
    if (node->is(Opcode::placeholder) || node->is(Opcode::output))
      throw AssertionError("[fuse_by_partitions %" + name +
                               "] node: expected a call or an attribute, got " +
                               std::string(opcode_name(node->op())),
                           node->error_context());
  }
}

// Every partition counts as one vertex: is there an order for all of them?
void check_acyclic(const Graph& graph,
                   const std::vector<std::vector<NodePtr>>& partitions) {
  std::vector<size_t> vertex(graph.id_bound(), kNoVertex);
  size_t count = 0;
  for (const auto& partition : partitions) {
    for (const Node* node : partition) {
      if (vertex[node->id()] != kNoVertex)
        throw AssertionError("[fuse_by_partitions %" +
                                 std::string(node->name()) +
                                 "] partition: expected one, got two",
                             node->error_context());
      vertex[node->id()] = count;
    }
    ++count;
  }
  for (const Node* node : graph.nodes())
    if (vertex[node->id()] == kNoVertex) vertex[node->id()] = count++;
  std::vector<size_t> missing(count);
  std::vector<std::vector<const Node*>> members(partitions.size());
  std::vector<const Node*> single(count);
  for (const Node* node : graph.nodes()) {
    const size_t at = vertex[node->id()];
    single[at] = node;
    for (const Node* input : node->all_input_nodes())
      if (vertex[input->id()] != at) ++missing[at];
  }
  std::vector<size_t> ready;
  for (size_t v = 0; v < count; ++v)
    if (missing[v] == 0) ready.push_back(v);
  size_t done = 0;
  auto release = [&](const Node* node) {
    for (const Node* user : node->users())
      if (const size_t at = vertex[user->id()];
          at != vertex[node->id()] && --missing[at] == 0)
        ready.push_back(at);
  };
  for (; !ready.empty(); ++done) {
    const size_t v = ready.back();
    ready.pop_back();
    if (v >= partitions.size()) {
      release(single[v]);
    } else {
      for (const Node* node : partitions[v]) release(node);
    }
  }
  if (done < count)
    throw AssertionError("Invalid partition, found dependency cycles");
}

// One partition as a graph of its own.
struct Fused {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<NodePtr> inputs;   // Nodes outside that it reads.
  std::vector<NodePtr> outputs;  // Nodes inside that are used outside.
};

Fused fuse(const std::vector<NodePtr>& nodes, bool always_return_tuple) {
  Fused fused;
  std::unordered_map<const Node*, NodePtr> copies;
  std::unordered_map<const Node*, bool> inside;
  for (const Node* node : nodes) inside.emplace(node, true);
  auto mapped = [&](NodePtr input) {
    const auto [entry, added] = copies.try_emplace(input);
    if (!added) return entry->second;
    const NodePtr outer = fused.graph->placeholder(input->name());
    outer->copy_meta_from(*input);
    fused.inputs.push_back(input);
    return copies[input] = outer;
  };
  for (NodePtr node : nodes) {
    const NodePtr copy = fused.graph->node_copy(*node, mapped);
    copies[node] = copy;
  }
  ValueList results;
  for (NodePtr node : nodes) {
    const auto users = node->users();
    if (std::all_of(users.begin(), users.end(),
                    [&](const Node* user) { return inside.contains(user); }))
      continue;
    fused.outputs.push_back(node);
    results.push_back(copies[node]);
  }
  const bool single = results.size() == 1 && !always_return_tuple;
  fused.graph->output(single ? results[0] : Value::tuple(std::move(results)));
  return fused;
}

void replace_outputs(Graph& graph, NodePtr call, const Fused& fused,
                     bool always_return_tuple) {
  if (fused.outputs.empty()) return;
  if (fused.outputs.size() == 1 && !always_return_tuple) {
    replace_uses({{fused.outputs[0], call}}, /*propagate_meta=*/true);
    return;
  }
  const Target getitem = ops::get_function("operator.getitem");
  const InsertScope scope = call->next()->is(Opcode::root)
                                ? graph.inserting_after(nullptr)
                                : graph.inserting_before(call->next());
  ValueList vals;
  std::vector<std::pair<NodePtr, NodePtr>> items;
  for (size_t i = 0; i < fused.outputs.size(); ++i) {
    vals.push_back(fused.outputs[i]->val());
    items.emplace_back(
        fused.outputs[i],
        graph.call_function(getitem, {call, static_cast<int64_t>(i)}));
  }
  replace_uses(items, /*propagate_meta=*/true);
  call->set_val(Value::tuple(std::move(vals)));
}

}  // namespace

bool validate_partition(std::span<const NodePtr> nodes) {
  if (nodes.empty()) return true;
  const Graph& graph = nodes[0]->graph();
  const NodeOrder order(graph);
  return !CycleSearch(graph, order).leaves_and_returns(nodes);
}

void fuse_by_partitions(GraphModule& module,
                        const std::vector<std::vector<NodePtr>>& partitions,
                        const std::string& prefix, bool always_return_tuple) {
  Graph& graph = module.graph();
  for (const auto& nodes : partitions) check_nodes(module, nodes);
  check_acyclic(graph, partitions);
  for (size_t i = 0; i < partitions.size(); ++i) {
    if (partitions[i].empty()) continue;
    const std::vector<NodePtr> nodes =
        topological_order(partitions[i], graph.id_bound());
    Fused fused = fuse(nodes, always_return_tuple);
    const std::string name = prefix + std::to_string(i);
    module.add_submodule(
        name, GraphModule::create(module, std::move(fused.graph), name));
    ValueList args(fused.inputs.begin(), fused.inputs.end());
    NodePtr call = nullptr;
    {
      const InsertScope scope = graph.inserting_after(nodes.back());
      call = graph.call_module(name, std::move(args));
    }
    replace_outputs(graph, call, fused, always_return_tuple);
    for (size_t n = nodes.size(); n-- > 0;) graph.erase_node(nodes[n]);
  }
  stable_topological_sort(graph);
  module.recompile();
}

}  // namespace fxjit::fx::passes
