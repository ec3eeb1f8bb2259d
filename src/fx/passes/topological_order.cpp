#include "src/fx/passes/topological_order.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <string_view>

#include "fxjit/fx/passes/tools_common.h"

namespace fxjit::fx::passes {
namespace {

constexpr size_t kNotListed = SIZE_MAX;

// The functions that torch puts first.
bool is_prioritized(const Node& node) {
  static constexpr std::string_view kNames[] = {
      "_operator.add", "_operator.mul",      "_operator.sub",
      "_operator.mod", "_operator.floordiv", "_operator.truediv",
      "_operator.le",  "_operator.lt",       "_operator.ge",
      "_operator.gt",  "_operator.eq",       "_operator.ne"};
  return node.is(Opcode::call_function) &&
         std::find(std::begin(kNames), std::end(kNames), node.target_name()) !=
             std::end(kNames);
}

std::string cycle_text(const Graph& graph, const std::vector<NodePtr>& order) {
  std::vector<bool> ordered(graph.id_bound());
  for (const Node* node : order) ordered[node->id()] = true;
  std::string names;
  for (const Node* node : graph.nodes())
    if (!ordered[node->id()])
      names += (names.empty() ? "" : ", ") + std::string(node->name());
  return "Input graph has cycles, unable to add [" + names + "]";
}

void reorder(const std::vector<NodePtr>& order) {
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->next() != order[i]) order[i - 1]->append(order[i]);
}

// Every node is put behind the last of its inputs as soon as that is placed.
std::vector<NodePtr> breadth_first(const Graph& graph) {
  std::vector<size_t> missing(graph.id_bound());
  std::deque<NodePtr> ready;
  for (NodePtr node : graph.nodes()) {
    missing[node->id()] = node->all_input_nodes().size();
    if (missing[node->id()] == 0) ready.push_back(node);
  }
  std::vector<NodePtr> order;
  std::vector<NodePtr> outputs;
  while (!ready.empty()) {
    const NodePtr node = ready.front();
    ready.pop_front();
    (node->is(Opcode::output) ? outputs : order).push_back(node);
    for (NodePtr user : node->users()) {
      if (--missing[user->id()] > 0) continue;
      if (is_prioritized(*user)) {
        ready.push_front(user);
      } else {
        ready.push_back(user);
      }
    }
  }
  order.insert(order.end(), outputs.begin(), outputs.end());
  return order;
}

}  // namespace

// Kahn's algorithm, the earliest ready one first.
std::vector<NodePtr> topological_order(const std::vector<NodePtr>& nodes,
                                       uint32_t id_bound) {
  std::vector<size_t> position(id_bound, kNotListed);
  for (size_t i = 0; i < nodes.size(); ++i) position[nodes[i]->id()] = i;
  std::vector<size_t> missing(nodes.size());
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Node* input : nodes[i]->all_input_nodes())
      if (position[input->id()] != kNotListed) ++missing[i];
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<NodePtr> order;
  while (!ready.empty()) {
    const NodePtr node = nodes[ready.top()];
    ready.pop();
    order.push_back(node);
    for (const Node* user : node->users())
      if (const size_t at = position[user->id()];
          at != kNotListed && --missing[at] == 0)
        ready.push(at);
  }
  return order;
}

void stable_topological_sort(Graph& graph) {
  const std::vector<NodePtr> order =
      topological_order(graph.nodes().list(), graph.id_bound());
  if (order.size() != graph.size())
    throw AssertionError(cycle_text(graph, order));
  reorder(order);
}

void stable_topological_sort(GraphModule& module) {
  stable_topological_sort(module.graph());
  module.recompile();
}

void legalize_graph(GraphModule& module) {
  const std::vector<NodePtr> order = breadth_first(module.graph());
  if (order.size() != module.graph().size())
    throw RuntimeError(cycle_text(module.graph(), order));
  reorder(order);
  module.recompile();
}

}  // namespace fxjit::fx::passes
