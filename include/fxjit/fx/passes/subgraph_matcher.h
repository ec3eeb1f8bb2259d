// SubgraphMatcher: finds the places of a graph that match a pattern
// (torch.fx.passes.utils.matcher_utils). A pattern is a graph whose
// placeholders are wildcards: each stands for any one value, the same one
// wherever it is used.
//
// Matching is linear in the graph for patterns with one result. Several results
// are tied together by the nodes that they share, so each adds a walk over the
// users of those; results that share nothing are tried in all combinations that
// do not overlap.
//
// A matcher may be used by one thread at a time, and so may the graphs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

// What each node of a pattern stands for, in the order in which it was matched:
// a node of the graph, or for a wildcard also a literal or a container.
class NodesMap {
 public:
  const Value* find(const Node* pattern_node) const;
  bool contains(const Node* pattern_node) const {
    return find(pattern_node) != nullptr;
  }
  // KeyError naming the node when absent.
  const Value& at(const Node* pattern_node) const;
  // As `at`, for a match that is a node; TypeError otherwise.
  NodePtr node(const Node* pattern_node) const;
  void set(const Node* pattern_node, Value value);
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<const Node*, Value>> entries_;
  // Positions; only kept for patterns too large to search.
  std::unordered_map<const Node*, size_t> index_;
};

// One place of a graph that matches a pattern. It refers to nodes of both
// graphs.
struct InternalMatch {
  // Nodes of the pattern from which the match was found: its results that
  // nothing else in it uses.
  std::vector<const Node*> anchors;
  NodesMap nodes_map;
  // What the pattern's placeholders stand for, in their order.
  ValueList placeholder_nodes;
  // The nodes that the pattern returns, in the order of its output.
  std::vector<NodePtr> returning_nodes;
  // See SubgraphMatcherWithNameNodeMap; empty otherwise.
  std::vector<std::pair<std::string, NodePtr>> name_node_map;
};

// torch's arguments of SubgraphMatcher.
struct MatcherOptions {
  // The pattern's output is part of it: only the end of a graph matches.
  bool match_output = false;
  // Placeholders match placeholders only.
  bool match_placeholder = false;
  // Returns only the first of overlapping matches.
  bool remove_overlapping_matches = true;
  // Numbers, strings and other literals match any literal.
  bool ignore_literals = false;
};

// Finds all places in a graph that compute what a pattern computes. Immutable;
// several threads may call match().
class SubgraphMatcher {
 public:
  // `pattern` must outlive the matcher and the matches, and may not change.
  // ValueError for an empty pattern, AssertionError for one with nodes that
  // nothing uses.
  explicit SubgraphMatcher(const Graph& pattern, MatcherOptions options = {});

  // Matches in graph order. Nodes of a match, other than those that wildcards
  // stand for and those returned, are used inside the match only, and no path
  // leaves it and comes back. A `node_name_match` other than "" keeps results
  // whose name contains it.
  std::vector<InternalMatch> match(const Graph& graph,
                                   std::string_view node_name_match = {}) const;

  const Graph& pattern() const { return pattern_; }
  const MatcherOptions& options() const { return options_; }

 private:
  friend class MatchSearch;
  const Graph& pattern_;
  MatcherOptions options_;
  std::vector<const Node*> placeholders_;
  std::vector<const Node*> returning_;
  std::vector<const Node*> anchors_;
};

// A matcher for patterns whose last result is a dict from names to nodes, by
// which code that works on matches can refer to nodes inside:
//
//   return (relu, {"conv": conv, "relu": relu})
//
// The dict is no part of the pattern; InternalMatch::name_node_map has what its
// nodes stand for.
class SubgraphMatcherWithNameNodeMap {
 public:
  // Takes a copy of `pattern`. ValueError when its last result is no dict.
  explicit SubgraphMatcherWithNameNodeMap(const Graph& pattern,
                                          MatcherOptions options = {});

  std::vector<InternalMatch> match(const Graph& graph,
                                   std::string_view node_name_match = {}) const;
  // The pattern without its dict.
  const Graph& pattern() const { return *pattern_; }

 private:
  std::unique_ptr<Graph> pattern_;
  std::vector<std::pair<std::string, const Node*>> names_;
  std::unique_ptr<SubgraphMatcher> matcher_;
};

// True when both graphs have the same inputs, calls and results, in the same
// connection; names do not matter.
bool compare_graphs(const Graph& left, const Graph& right);

}  // namespace fxjit::fx::passes
