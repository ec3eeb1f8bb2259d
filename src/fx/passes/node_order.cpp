#include "src/fx/passes/node_order.h"

#include <algorithm>
#include <limits>

namespace fxjit::fx::passes {
namespace {

constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();
// Inserted nodes stand this far apart where there is room: small against the
// gaps of a fresh numbering, since most insertions at one place go on behind
// the previous one.
constexpr uint64_t kInsertedGap = uint64_t{1} << 12;

}  // namespace

NodeOrder::NodeOrder(const Graph& graph) : graph_(graph) { relabel(); }

void NodeOrder::relabel() {
  labels_.resize(graph_.id_bound());
  const uint64_t gap = kEnd / (graph_.size() + 2);
  uint64_t label = 0;
  for (const Node* node : graph_.nodes()) labels_[node->id()] = label += gap;
}

void NodeOrder::placed(const Node* first, const Node* last) {
  labels_.resize(graph_.id_bound());
  uint64_t count = 1;
  for (const Node* node = first; node != last; node = node->next()) ++count;
  const Node* const before = first->prev();
  const Node* const after = last->next();
  const uint64_t low = before->is(Opcode::root) ? 0 : of(before);
  const uint64_t high = after->is(Opcode::root) ? kEnd : of(after);
  const uint64_t gap = std::min((high - low) / (count + 1), kInsertedGap);
  if (gap == 0) return relabel();
  uint64_t label = low;
  for (const Node* node = first;; node = node->next()) {
    labels_[node->id()] = label += gap;
    if (node == last) return;
  }
}

void NodeMarks::clear() {
  if (++epoch_ != 0) return;
  std::fill(marks_.begin(), marks_.end(), 0);
  epoch_ = 1;
}

bool NodeMarks::insert(const Node* node) {
  if (node->id() >= marks_.size()) marks_.resize(node->graph().id_bound());
  uint32_t& mark = marks_[node->id()];
  if (mark == epoch_) return false;
  mark = epoch_;
  return true;
}

bool CycleSearch::leaves_and_returns(std::span<const NodePtr> nodes) {
  inside_.clear();
  seen_.clear();
  pending_.clear();
  uint64_t last = 0;
  for (NodePtr node : nodes) {
    inside_.insert(node);
    last = std::max(last, order_.of(node));
  }
  // Behind the last node of the set nothing can lead back into it.
  auto follow = [&](NodePtr user) {
    if (order_.of(user) < last && seen_.insert(user)) pending_.push_back(user);
  };
  for (NodePtr node : nodes)
    for (NodePtr user : node->users())
      if (!inside_.contains(user)) follow(user);
  while (!pending_.empty()) {
    const NodePtr at = pending_.back();
    pending_.pop_back();
    for (NodePtr user : at->users()) {
      if (inside_.contains(user)) return true;
      follow(user);
    }
  }
  return false;
}

}  // namespace fxjit::fx::passes
