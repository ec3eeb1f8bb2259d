// The ways in which NetMinimizer goes through a graph. The words of the reports
// are torch's.
#include <algorithm>

#include "fxjit/fx/passes/net_minimizer.h"

namespace fxjit::fx::passes {
namespace {

std::string node_name(const Node* node) { return std::string(node->name()); }

std::string names_of(const std::vector<NodePtr>& nodes) {
  std::string names;
  for (const Node* node : nodes)
    names += (names.empty() ? "" : ", ") + node_name(node);
  return names;
}

// As Python prints a set and a list of nodes.
std::string set_text(const std::vector<NodePtr>& nodes) {
  return nodes.empty() ? "set()" : "{" + names_of(nodes) + "}";
}
std::string list_text(const std::vector<NodePtr>& nodes) {
  return "[" + names_of(nodes) + "]";
}

std::string indexed(size_t index, const Node* node) {
  return std::to_string(index) + ":" + node_name(node);
}

std::vector<NodePtr> part_of(const std::vector<NodePtr>& nodes, size_t begin,
                             size_t end) {
  return {nodes.begin() + static_cast<std::ptrdiff_t>(begin),
          nodes.begin() + static_cast<std::ptrdiff_t>(end)};
}

constexpr const char* kProceed =
    "Proceed to split and lower the halves of the current sub-module "
    "individually.";

}  // namespace

NetMinimizer::Nodes NetMinimizer::collect(std::string_view start,
                                          std::string_view end) const {
  Nodes nodes;
  bool add = start.empty();
  for (NodePtr node : order_) {
    if (!is_callable_node(*node)) continue;
    add = add || node->name() == start;
    if (add) nodes.push_back(node);
    if (!end.empty() && node->name() == end) break;
  }
  return nodes;
}

// False when nothing is left.
bool NetMinimizer::exclude(Nodes& nodes, int64_t start, int64_t end) const {
  if (exclusion_) exclusion_(nodes, start, end);
  return !nodes.empty();
}

NetMinimizer::Nodes NetMinimizer::with_fusions(const Nodes& nodes) const {
  if (fusions_.empty()) return nodes;
  Nodes all = nodes;
  for (const Node* node : nodes)
    if (const auto group = fusions_.find(node); group != fusions_.end())
      all.insert(all.end(), group->second->begin(), group->second->end());
  std::ranges::sort(all, {},
                    [&](const Node* node) { return position_[node->id()]; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<NodePtr> NetMinimizer::minimize(
    std::string_view start, std::string_view end,
    const std::optional<std::vector<std::string>>& skip_nodes,
    std::optional<bool> find_last_node) {
  const Nodes nodes = collect(start, end);
  if (options_.traverse_method == TraverseMethod::skip && !skip_nodes)
    throw RuntimeError(
        "'skip_nodes' can't be None when 'traverse_method' is 'skip'.");
  if (nodes.empty()) return {};
  switch (options_.traverse_method) {
    case TraverseMethod::sequential:
      return sequential(nodes);
    case TraverseMethod::binary:
      return binary(nodes, 0, nodes.size());
    case TraverseMethod::accumulate:
      return accumulate(nodes);
    case TraverseMethod::block:
      return block(nodes, find_last_node);
    case TraverseMethod::skip:
      return skip(nodes, *skip_nodes);
    case TraverseMethod::defined:
      return defined(nodes);
  }
  return {};
}

NetMinimizer::Nodes NetMinimizer::sequential(const Nodes& nodes) {
  Nodes culprits;
  for (NodePtr node : nodes) {
    const size_t at = new_report(
        {"Sequential traverse iteration " + std::to_string(++iteration_) + ".",
         "Visit node: " + node_name(node)});
    Nodes part = {node};
    if (!exclude(part, -1, -1)) {
      report(at, "User exclusion : " + node_name(node));
      if (!options_.find_all) break;
      continue;
    }
    part = with_fusions({node});
    const Outcome outcome = run(part, {node}, at);
    if (outcome == Outcome::close) continue;
    const bool differs = outcome == Outcome::differs;
    report(at, std::string("Found culprit from ") +
                   (differs ? "numeric" : "run") +
                   " error: " + node_name(node));
    if (differs) part = {node};
    for (NodePtr culprit : part)
      if (std::find(culprits.begin(), culprits.end(), culprit) ==
          culprits.end())
        culprits.push_back(culprit);
    if (!options_.find_all) break;
  }
  return culprits;
}

// Depth is the logarithm of the size.
NetMinimizer::Nodes NetMinimizer::binary(const Nodes& nodes, size_t begin,
                                         size_t end) {
  Nodes part = part_of(nodes, begin, end);
  if (!exclude(part, static_cast<int64_t>(begin), static_cast<int64_t>(end))) {
    new_report({"All nodes are excluded by user"});
    return {};
  }
  const size_t at =
      new_report({"Binary search iteration " + std::to_string(++iteration_),
                  "From node index " + indexed(begin, part.front()) + " to " +
                      indexed(end - 1, part.back()) +
                      ". Size of the interested node list is " +
                      std::to_string(part.size())});
  if (run(part, {part.back()}, at) == Outcome::close) {
    report(at, "No discrepancy found.");
    return {};
  }
  if (part.size() == 1) {
    report(at,
           "This is the last node in the sub-module. Search in the current "
           "branch is successful with culprit = " +
               set_text(part) + ".");
    return part;
  }
  report(at, kProceed);
  const size_t middle = begin + std::min(part.size() / 2, end - begin - 1);
  Nodes culprits = binary(nodes, begin, middle);
  if (!culprits.empty() && !options_.find_all) return culprits;
  const Nodes more = binary(nodes, middle, end);
  culprits.insert(culprits.end(), more.begin(), more.end());
  if (culprits.empty())
    report(at,
           "Further split and lowering found no errors. Unable to minimize the "
           "submodule with list of nodes: " +
               list_text(part));
  return culprits;
}

NetMinimizer::Nodes NetMinimizer::accumulate(const Nodes& nodes) {
  Nodes part;
  for (NodePtr node : nodes) {
    part.push_back(node);
    const size_t at = new_report(
        {"Accumulate traverse iteration " + std::to_string(++iteration_) + ".",
         "Add node: " + node_name(node)});
    if (run(part, {node}, at) == Outcome::close) continue;
    report(at, "Found culprit " + node_name(node));
    return {node};
  }
  return {};
}

// A binary search for the shortest head that differs, or for the shortest tail.
std::optional<size_t> NetMinimizer::block_end(const Nodes& nodes, size_t start,
                                              size_t end, bool find_last_node) {
  for (;;) {
    const size_t middle = (start + end) / 2;
    Nodes part = find_last_node ? part_of(nodes, 0, middle + 1)
                                : part_of(nodes, middle, nodes.size());
    if (!exclude(part, -1, -1)) return std::nullopt;
    const std::string first = node_name(part.front());
    const std::string last = node_name(part.back());
    const size_t at = new_report(
        {std::string(30, '='),
         "Block search iteration " + std::to_string(++iteration_),
         std::string("Search for ") + (find_last_node ? "last" : "first") +
             " node in culprits",
         "From node index " + indexed(start, nodes[start]) + " to " +
             indexed(end, nodes[end]) + ". ",
         "Subgraph constructed by " + first + " to " + last,
         "Targeting node: " + (find_last_node ? last : first),
         "Size of the interested node list is " +
             std::to_string(end - start + 1)});
    const bool found = run(part, {part.back()}, at) != Outcome::close;
    if (found)
      report(at, "Culprits found from node " + first + " to " + last + ".");
    else
      report(at, "Culprits not found from node start to " +
                     indexed(middle, nodes[middle]) + ".");
    if (start == end && found) {
      reports_[at].insert(
          reports_[at].end(),
          {"This is the last node in the sub-module. ",
           "Search in the current branch is successful with node :",
           std::to_string(start) + ", node name: " + node_name(nodes[start]) +
               "."});
      return start;
    }
    if (start == end) {
      // Nothing found: the bounds are where they began.
      if (find_last_node ? start == nodes.size() - 1 : start == 0) {
        report(at, std::string("At ") + (find_last_node ? "last" : "first") +
                       " node, no culprits found.");
        return std::nullopt;
      }
      return find_last_node ? start + 1 : start - 1;
    }
    report(at, kProceed);
    if (found == find_last_node) {
      end = middle;
    } else {
      start = middle + 1;
    }
  }
}

// First the end of the block that differs, then its start.
NetMinimizer::Nodes NetMinimizer::block(const Nodes& nodes,
                                        std::optional<bool> find_last_node) {
  const size_t at =
      new_report({"Block search from " + node_name(nodes.front()) + " to " +
                      node_name(nodes.back()),
                  std::string(50, '*')});
  size_t first = 0, last = nodes.size() - 1;
  if (find_last_node.value_or(true)) {
    report(at, "Start searching for last node in culprit");
    const auto found = block_end(nodes, first, last, true);
    if (!found) {
      report(at, "No culprits found");
      return {};
    }
    last = *found;
    report(at, "Finish Pass 1");
    report(at, "Find end_idx = " + indexed(last, nodes[last]));
  }
  if (!find_last_node.value_or(false)) {
    const auto found = block_end(nodes, first, last, false);
    if (!found) {
      report(at, "No culprits found");
      return {};
    }
    first = *found;
    new_report({"Start searching for first node in culprit",
                std::string(50, '*'), "Finish Pass 2",
                "Find start_idx = " + indexed(first, nodes[first])});
  }
  new_report({"Finish searching, found minimum block (" +
              node_name(nodes[first]) + "," + node_name(nodes[last]) + ")"});
  return part_of(nodes, first, last + 1);
}

NetMinimizer::Nodes NetMinimizer::skip_part(Nodes part, size_t begin,
                                            size_t end) {
  const size_t size = part.size();
  if (exclusion_) {
    exclude(part, static_cast<int64_t>(begin), static_cast<int64_t>(end));
  } else {
    part = with_fusions(part);
  }
  const size_t at = new_report(
      {" Nodes block " + std::to_string(++iteration_) + ".",
       "From node index " + std::to_string(begin) + " to " +
           std::to_string(end - 1) + ". Size of the interested node list is " +
           std::to_string(exclusion_ ? part.size() : size)});
  if (part.empty()) return {};
  const Outcome outcome = run(part, {}, at);
  if (outcome == Outcome::close) {
    report(at, "No discrepancy found.");
    return {};
  }
  report(at, std::string("Found culprit from ") +
                 (outcome == Outcome::differs ? "numeric" : "run") +
                 " error: " + set_text(part));
  return part;
}

NetMinimizer::Nodes NetMinimizer::skip(
    const Nodes& nodes, const std::vector<std::string>& skip_nodes) {
  Nodes culprits;
  auto run_part = [&](size_t begin, size_t end) {
    if (begin == end) return;
    const Nodes found = skip_part(part_of(nodes, begin, end), begin, end);
    culprits.insert(culprits.end(), found.begin(), found.end());
  };
  size_t begin = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (std::find(skip_nodes.begin(), skip_nodes.end(), nodes[i]->name()) ==
        skip_nodes.end())
      continue;
    run_part(begin, i);
    begin = i + 1;
  }
  run_part(begin, nodes.size());
  return culprits;
}

NetMinimizer::Nodes NetMinimizer::defined(Nodes nodes) {
  if (!exclude(nodes, -1, -1)) {
    new_report({"All nodes are excluded by user"});
    return {};
  }
  const size_t at =
      new_report({"Defined graph from " + node_name(nodes.front()) + " to " +
                  node_name(nodes.back())});
  if (run(nodes, {nodes.back()}, at) == Outcome::close) return {};
  report(at, "Found culprit " + set_text(nodes));
  return nodes;
}

}  // namespace fxjit::fx::passes
