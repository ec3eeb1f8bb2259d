// NodeOrder tells which of two nodes comes first, in constant time, while nodes
// are being inserted. Passes use it that edit a graph at many places; they must
// tell it of every insertion and move. NodeMarks and CycleSearch walk the part
// of a graph between two nodes.
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
  // States that the nodes from `first` to `last` were inserted or moved to
  // where they are now.
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
  // Returns false if the node was in the set already.
  bool insert(const Node* node);

 private:
  std::vector<uint32_t> marks_;
  uint32_t epoch_ = 1;
};

// Tells whether a path leads out of a set of nodes and back into it. If so, the
// set cannot be computed at once, since it would need its own result. A call
// takes time proportional to the nodes between the first and the last of the
// set.
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
