// NodeOrder: which of two nodes comes first, in constant time, while nodes are
// being inserted. Used by passes that edit a graph at many places; whoever
// inserts or moves nodes must tell it. Also walks that stay between two places.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

class NodeOrder {
 public:
  explicit NodeOrder(const Graph& graph);

  uint64_t of(const Node* node) const { return labels_[node->id()]; }
  bool before(const Node* a, const Node* b) const { return of(a) < of(b); }
  // The nodes from `first` to `last` have just been put where they stand.
  void placed(const Node* first, const Node* last);

 private:
  void relabel();

  const Graph& graph_;
  std::vector<uint64_t> labels_;  // By node id; grows along the list.
};

// A set of nodes that is emptied in constant time.
class NodeMarks {
 public:
  explicit NodeMarks(const Graph& graph) : marks_(graph.id_bound()) {}
  void clear();
  bool contains(const Node* node) const {
    return node->id() < marks_.size() && marks_[node->id()] == epoch_;
  }
  // False when it was there already.
  bool insert(const Node* node);

 private:
  std::vector<uint32_t> marks_;
  uint32_t epoch_ = 1;
};

// Tells for sets of nodes whether a path leaves the set and comes back, so that
// computing the set at once would need its own result. Costs a walk over what
// lies between the set's first and last node.
class CycleSearch {
 public:
  CycleSearch(const Graph& graph, const NodeOrder& order)
      : order_(order), inside_(graph), seen_(graph) {}
  bool leaves_and_returns(std::span<const NodePtr> nodes);

 private:
  const NodeOrder& order_;
  NodeMarks inside_;
  NodeMarks seen_;
  std::vector<NodePtr> pending_;
};

}  // namespace fxjit::fx::passes
