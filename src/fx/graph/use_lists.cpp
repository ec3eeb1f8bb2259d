// The edges of a node: how the lists of inputs and users follow its arguments.
#include <algorithm>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/node.h"

namespace fxjit::fx {
namespace {

// Points the list at `use` after its address has changed.
void relocate(Use& use, Use*& first, Use*& last) {
  (use.prev ? use.prev->next : first) = &use;
  (use.next ? use.next->prev : last) = &use;
}

}  // namespace

void Node::reserve_uses(uint32_t count) {
  if (count <= uses_capacity_) return;
  const uint32_t capacity = std::max(count, uses_capacity_ * 2);
  Use* const grown = new Use[capacity];
  for (uint32_t i = 0; i < num_inputs_; ++i) {
    grown[i] = uses_[i];
    const NodePtr input = grown[i].input;
    if (grown[i].user) relocate(grown[i], input->first_use_, input->last_use_);
  }
  if (uses_ != inline_uses_) delete[] uses_;
  uses_ = grown;
  uses_capacity_ = capacity;
}

void Node::add_use(NodePtr input) {
  reserve_uses(num_inputs_ + 1);
  Use& use = uses_[num_inputs_++];
  use = {};
  use.input = input;
  // A node of another graph is kept as an input for lint to find, but its use
  // list, whose graph may die first, does not learn of us.
  if (input->graph_ != graph_) return;
  use.user = this;
  use.prev = input->last_use_;
  (use.prev ? use.prev->next : input->first_use_) = &use;
  input->last_use_ = &use;
  ++input->num_users_;
}

void Node::attach_inputs() {
  const uint32_t epoch = graph_->next_epoch();
  auto visit = [&](const Value& leaf) {
    if (!leaf.is_node()) return;
    const NodePtr input = leaf.as_node();
    if (input->graph_ != graph_) {
      for (NodePtr known : all_input_nodes())
        if (known == input) return;
    } else if (input->mark_ == epoch) {
      return;
    } else {
      input->mark_ = epoch;
    }
    add_use(input);
  };
  for (const Value& arg : args_) visit_leaves(arg, visit);
  for (const auto& [key, arg] : kwargs_) visit_leaves(arg, visit);
}

// Starts every change of arguments.
void Node::detach_inputs() {
  graph_->touch();
  for (uint32_t i = 0; i < num_inputs_; ++i) {
    Use& use = uses_[i];
    if (!use.user) continue;
    const NodePtr input = use.input;
    (use.prev ? use.prev->next : input->first_use_) = use.next;
    (use.next ? use.next->prev : input->last_use_) = use.prev;
    --input->num_users_;
  }
  num_inputs_ = 0;
}

bool Node::has_user(const Node* user) const {
  if (!user) return false;
  for (NodePtr input : user->all_input_nodes())
    if (input == this) return true;
  return false;
}

void Node::refuse_erased() const {
  if (!erased_) return;
  throw RuntimeError(
      "Node " + std::string(name_) + " has been erased from its graph",
      error_context());
}

// Before anything is changed.
void Node::refuse_erased(std::span<const Value> args,
                         const Kwargs& kwargs) const {
  refuse_erased();
  auto visit = [](const Value& leaf) {
    if (leaf.is_node()) leaf.as_node()->refuse_erased();
  };
  for (const Value& arg : args) visit_leaves(arg, visit);
  for (const auto& [key, arg] : kwargs) visit_leaves(arg, visit);
}

void Node::insert_arg(size_t i, Value value) {
  refuse_erased({&value, 1}, {});
  if (i > args_.size())
    throw AssertionError(
        "insert_args index must be between 0 and len(self.args), got " +
            // A negative index of the caller's has become a huge one.
            std::to_string(static_cast<int64_t>(i)),
        error_context());
  graph_->touch();
  std::vector<NodePtr> added;
  visit_leaves(value, [&](const Value& leaf) {
    if (leaf.is_node()) added.push_back(leaf.as_node());
  });
  args_.insert(args_.begin() + static_cast<std::ptrdiff_t>(i),
               std::move(value));
  for (NodePtr input : added)
    if (!input->has_user(this)) add_use(input);
}

}  // namespace fxjit::fx
