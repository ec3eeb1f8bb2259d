#include "fxjit/fx/passes/source_matcher.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace fxjit::fx::passes {
namespace {

struct Source {
  std::string name;  // Tells uses apart.
  std::string source;
};

std::optional<Source> source_of_tuple(const Value& entry) {
  if (!entry.is_sequence() || entry.size() < 2 || !entry.at(0).is_string() ||
      !entry.at(1).is_string())
    return std::nullopt;
  return Source{std::string(entry.at(0).as_string()),
                std::string(entry.at(1).as_string())};
}

// The part of "builtin_function.relu" behind the first dot, up to the next.
std::string second_part(std::string_view name) {
  const size_t first = name.find('.');
  if (first == name.npos) return {};
  return std::string(
      name.substr(first + 1, name.find('.', first + 1) - first - 1));
}

using Wanted = std::unordered_set<std::string>;

std::optional<Source> wanted_source(const Node& node, const Wanted& wanted) {
  if (const Value* stack = node.meta().find("source_fn_stack");
      stack && stack->is_sequence() && stack->size() > 0) {
    auto found = source_of_tuple(stack->at(stack->size() - 1));
    return found && wanted.contains(found->source) ? found : std::nullopt;
  }
  if (const Value* entry = node.meta().find("torch_fn")) {
    if (auto found = source_of_tuple(*entry)) {
      found->source = second_part(found->source);
      if (wanted.contains(found->source)) return found;
    }
  }
  if (!node.is(Opcode::call_function) || !node.module_stack() ||
      node.module_stack()->empty())
    return std::nullopt;
  const ModuleFrame& frame = node.module_stack()->back();
  if (!wanted.contains(frame.type)) return std::nullopt;
  return Source{frame.path, frame.type};
}

SourcePartition partition_of(std::vector<NodePtr> nodes, std::string source) {
  const std::unordered_set<const Node*> inside(nodes.begin(), nodes.end());
  std::unordered_set<const Node*> seen;
  SourcePartition partition;
  for (NodePtr node : nodes) {
    for (NodePtr input : node->all_input_nodes())
      if (!inside.contains(input) && !input->is(Opcode::get_attr) &&
          seen.insert(input).second)
        partition.input_nodes.push_back(input);
    if (node->is(Opcode::get_attr)) {
      partition.params.push_back(node);
      continue;
    }
    const auto users = node->users();
    if (std::any_of(users.begin(), users.end(),
                    [&](const Node* user) { return !inside.contains(user); }))
      partition.output_nodes.push_back(node);
  }
  partition.nodes = std::move(nodes);
  partition.source = std::move(source);
  return partition;
}

// The uses of one source, in order.
struct Uses {
  std::vector<std::vector<NodePtr>> nodes;
  std::unordered_map<std::string, size_t> by_name;

  void add(const std::string& name, NodePtr node) {
    const auto [entry, added] = by_name.try_emplace(name, nodes.size());
    if (added) nodes.emplace_back();
    nodes[entry->second].push_back(node);
  }
};

}  // namespace

SourcePartitions get_source_partitions(
    const Graph& graph, const std::vector<std::string>& wanted_sources,
    const std::function<bool(const Node&)>& filter) {
  const Wanted wanted(wanted_sources.begin(), wanted_sources.end());
  std::vector<std::pair<std::string, Uses>> found;
  std::unordered_map<std::string, size_t> by_source;
  for (NodePtr node : graph.nodes()) {
    const auto source = wanted_source(*node, wanted);
    if (!source) continue;
    const auto [entry, added] =
        by_source.try_emplace(source->source, found.size());
    if (added) found.emplace_back(source->source, Uses());
    found[entry->second].second.add(source->name, node);
  }
  SourcePartitions partitions;
  for (auto& [source, uses] : found) {
    auto& list =
        partitions.emplace_back(source, std::vector<SourcePartition>()).second;
    for (std::vector<NodePtr>& nodes : uses.nodes)
      if (!filter ||
          std::all_of(nodes.begin(), nodes.end(),
                      [&](const Node* node) { return filter(*node); }))
        list.push_back(partition_of(std::move(nodes), source));
  }
  return partitions;
}

bool check_subgraphs_connected(const SourcePartition& first,
                               const SourcePartition& second) {
  const std::unordered_set<const Node*> nodes(first.nodes.begin(),
                                              first.nodes.end());
  for (const Node* node : second.nodes)
    for (const Node* input : node->all_input_nodes())
      if (nodes.contains(input)) return true;
  return false;
}

}  // namespace fxjit::fx::passes
