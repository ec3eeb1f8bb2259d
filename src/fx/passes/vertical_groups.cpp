#include "src/fx/passes/vertical_groups.h"

#include <algorithm>

namespace fxjit::fx::passes {
namespace {

constexpr size_t kNoGroup = SIZE_MAX;

struct NodeGroup {
  int64_t id = 0;
  std::vector<NodePtr> nodes;
  // Nodes that read it, and nodes it reads; some may be inside.
  std::vector<NodePtr> readers, sources;
};

// The graph seen so far, each group one vertex. Vertices are numbered: groups
// first, then single nodes by id.
class Groups {
 public:
  explicit Groups(const Graph& graph)
      : group_of_(graph.id_bound(), kNoGroup),
        visited_(graph.id_bound()),
        bound_(graph.size()),
        seen_{std::vector<uint32_t>(bound_ + graph.id_bound()),
              std::vector<uint32_t>(bound_ + graph.id_bound())} {}

  void visit(NodePtr node, bool supported) {
    visited_[node->id()] = ++num_visited_;
    if (supported) {
      group_of_[node->id()] = groups_.size();
      parent_.push_back(groups_.size());
      groups_.push_back({static_cast<int64_t>(groups_.size()),
                         {node},
                         node->users().list(),
                         {}});
    }
    for (const Node* user : node->users())
      if (group_of_[user->id()] != kNoGroup)
        groups_[find(group_of_[user->id()])].sources.push_back(node);
    if (supported) join_with_users(node);
  }

  std::vector<VerticalGroup> take() {
    std::vector<VerticalGroup> taken;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (find(i) != i) continue;
      std::ranges::sort(groups_[i].nodes, std::greater(),
                        [&](const Node* node) { return visited_[node->id()]; });
      taken.push_back({groups_[i].id, std::move(groups_[i].nodes)});
    }
    return taken;
  }

 private:
  enum class Step { more, end, back };

  // The neighbours of one vertex, one at a time.
  struct Cursor {
    size_t vertex;
    std::vector<NodePtr> single;  // The node itself, if it is no group.
    size_t next = 0;
  };

  // A walk along the edges, or against them, from two groups.
  class Walk {
   public:
    Walk(Groups& groups, bool forward, size_t a, size_t b)
        : groups_(groups), forward_(forward), a_(a), b_(b) {
      pending_.push_back({a, {}, 0});
      pending_.push_back({b, {}, 0});
    }

    // Looks at one edge. `back`: it leads into a or b again.
    Step step() {
      if (pending_.empty()) return Step::end;
      Cursor& at = pending_.back();
      std::vector<NodePtr>& list = at.vertex >= groups_.bound_ ? at.single
                                   : forward_
                                       ? groups_.groups_[at.vertex].readers
                                       : groups_.groups_[at.vertex].sources;
      if (at.next == list.size()) {
        pending_.pop_back();
        return Step::more;
      }
      const NodePtr node = list[at.next];
      const size_t vertex = groups_.vertex_of(node);
      if (vertex == at.vertex) {  // Inside for good: never looked at again.
        list[at.next] = list.back();
        list.pop_back();
        return Step::more;
      }
      ++at.next;
      const bool from_inside = at.vertex == a_ || at.vertex == b_;
      if (vertex == a_ || vertex == b_)
        return from_inside ? Step::more : Step::back;
      if (groups_.mark(forward_, vertex))
        pending_.push_back({vertex, groups_.neighbours(node, forward_), 0});
      return Step::more;
    }

   private:
    Groups& groups_;
    bool forward_;
    size_t a_, b_;
    std::vector<Cursor> pending_;
  };

  size_t find(size_t group) {
    while (parent_[group] != group)
      group = parent_[group] = parent_[parent_[group]];
    return group;
  }

  size_t vertex_of(const Node* node) {
    const size_t group = group_of_[node->id()];
    return group == kNoGroup ? bound_ + node->id() : find(group);
  }

  bool mark(bool forward, size_t vertex) {
    uint32_t& seen = seen_[forward][vertex];
    if (seen == epoch_) return false;
    seen = epoch_;
    return true;
  }

  // Empty for nodes of groups, which keep lists of their own.
  std::vector<NodePtr> neighbours(const Node* node, bool forward) const {
    if (group_of_[node->id()] != kNoGroup) return {};
    if (forward) return node->users().list();
    std::vector<NodePtr> inputs;
    for (NodePtr input : node->all_input_nodes())
      if (visited_[input->id()]) inputs.push_back(input);
    return inputs;
  }

  bool leaves_and_returns(size_t a, size_t b) {
    ++epoch_;
    Walk forward(*this, true, a, b), backward(*this, false, a, b);
    for (;;) {
      for (Walk* walk : {&forward, &backward}) {
        const Step step = walk->step();
        if (step != Step::more) return step == Step::back;
      }
    }
  }

  static void append(std::vector<NodePtr>& to, std::vector<NodePtr>& from) {
    if (to.size() < from.size()) to.swap(from);
    to.insert(to.end(), from.begin(), from.end());
    from = {};
  }

  // The larger group keeps its id.
  size_t join(size_t a, size_t b) {
    if (groups_[a].nodes.size() < groups_[b].nodes.size()) std::swap(a, b);
    parent_[b] = a;
    append(groups_[a].nodes, groups_[b].nodes);
    append(groups_[a].readers, groups_[b].readers);
    append(groups_[a].sources, groups_[b].sources);
    return a;
  }

  void join_with_users(const Node* node) {
    size_t own = group_of_[node->id()];
    std::vector<size_t> others;
    ++epoch_;
    for (const Node* user : node->users()) {
      if (group_of_[user->id()] == kNoGroup) continue;
      const size_t group = find(group_of_[user->id()]);
      if (mark(true, group)) others.push_back(group);
    }
    for (const size_t other : others)
      if (!leaves_and_returns(own, other)) own = join(own, other);
  }

  std::vector<size_t> group_of_;  // By node id, before joining.
  // By node id: when it was visited, the last node first; 0: not yet.
  std::vector<uint32_t> visited_;
  uint32_t num_visited_ = 0;
  std::vector<NodeGroup> groups_;
  std::vector<size_t> parent_;
  size_t bound_;  // Vertices from here on are single nodes.
  std::vector<uint32_t> seen_[2];
  uint32_t epoch_ = 0;
};

}  // namespace

std::vector<VerticalGroup> vertical_groups(
    const Graph& graph, const std::function<bool(const Node&)>& is_supported) {
  Groups groups(graph);
  for (NodePtr node : graph.nodes().reversed())
    groups.visit(node, is_supported(*node));
  return groups.take();
}

}  // namespace fxjit::fx::passes
