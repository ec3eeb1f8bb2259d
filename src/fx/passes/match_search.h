// One run of a SubgraphMatcher over one graph. Used by subgraph_matcher.cpp.
//
// An anchor is a result of the pattern that nothing else in the pattern uses.
// The search walks pattern and graph backwards together from an anchor; since a
// node has one producer, the walk has no choices. If the pattern has several
// anchors, the candidates for the second and later ones are found by going
// forward from nodes that are matched already.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/fx/passes/subgraph_matcher.h"
#include "src/fx/passes/node_order.h"

namespace fxjit::fx::passes {

class MatchSearch {
 public:
  MatchSearch(const SubgraphMatcher& matcher, const Graph& graph,
              std::string_view node_name_match);
  std::vector<InternalMatch> run();

 private:
  // A path of the pattern that leads forward to an anchor, from a node that
  // earlier anchors match as well.
  struct Descent {
    uint32_t id;  // Unique in the search.
    const Node* from;
    std::vector<const Node*> steps;  // Ends with the anchor.
  };
  // The nodes of the graph to be tried for an anchor, in graph order. Nodes
  // that matches have taken are dropped from the front.
  struct Candidates {
    std::vector<NodePtr> nodes;
    size_t first = 0;
  };
  struct Level {
    Candidates* candidates;
    size_t next;
    size_t trail;  // Bindings made by earlier levels.
  };
  enum class Bound : uint8_t { no, wildcard, node };

  void plan_descents();
  void find_descents(size_t anchor, const std::vector<bool>& shared);
  const Descent* cheapest_descent(size_t anchor) const;
  Candidates& candidates(size_t anchor);
  std::vector<NodePtr> all_candidates(size_t anchor) const;
  std::vector<NodePtr> descend(const Descent& descent, NodePtr from);
  void search_from(NodePtr first);
  bool next_candidate(std::vector<Level>& levels);
  bool accept();

  bool match_anchor(const Node* pattern_node, NodePtr node);
  bool match_pair(const Value& pattern_value, const Value& value);
  bool match_nodes(const Node* pattern_node, NodePtr node, bool anchor);
  bool match_literal(const Value& pattern_value, const Value& value);
  bool match_wildcard(const Node* pattern_node, const Value& value);
  bool nodes_are_equal(const Node& pattern_node, const Node& node,
                       bool anchor) const;
  bool push_arguments(const Node& pattern_node, const Node& node);
  bool push_all(const ValueList& pattern_values, const ValueList& values);
  void bind(const Node* pattern_node, const Value& value);
  void unbind_to(size_t trail);

  bool is_contained() const;
  InternalMatch result() const;

  const SubgraphMatcher& matcher_;
  const Graph& graph_;
  std::string_view node_name_match_;
  NodeOrder order_;
  CycleSearch cycles_;
  std::vector<bool> returned_;                  // By pattern node id.
  std::vector<std::vector<Descent>> descents_;  // By anchor.
  uint32_t num_descents_ = 0;

  // The state of the match that is being tried.
  std::vector<const Node*> trail_;  // Pattern nodes bound, in order.
  std::vector<Value> bound_to_;     // By pattern node id.
  std::vector<bool> is_bound_;
  std::vector<Bound> bound_;  // By graph node id.
  std::vector<std::pair<const Value*, const Value*>> pending_;
  std::vector<std::unique_ptr<ValueList>> completed_args_;

  std::vector<InternalMatch> matches_;
  NodeMarks taken_;  // By matches, when they may not overlap.
  NodeMarks seen_;
  std::unordered_map<size_t, Candidates> all_of_anchor_;
  // Candidates by descent and by the node of the graph where it starts.
  std::unordered_map<uint64_t, Candidates> below_;
};

}  // namespace fxjit::fx::passes
