// find_fusion_groups: grows a group around each call that gives no tensor.
#include <algorithm>

#include "fxjit/fx/passes/shape_prop.h"
#include "fxjit/fx/passes/tools_common.h"

namespace fxjit::fx::passes {
namespace {

bool holds_tensor(const Node& node) {
  return node.meta().contains("tensor_meta");
}

class GroupFinder {
 public:
  explicit GroupFinder(const GraphModule& module)
      : nodes_(module.graph().nodes().list()),
        position_(module.graph().id_bound()),
        member_(module.graph().id_bound()),
        reached_(module.graph().id_bound()) {
    for (size_t i = 0; i < nodes_.size(); ++i) position_[nodes_[i]->id()] = i;
  }

  std::vector<NodePtr> group_of(NodePtr seed) {
    group_.clear();
    first_ = last_ = position_[seed->id()];
    add(seed);
    for (size_t grown = 0; grown < group_.size(); add_what_lies_between())
      for (; grown < group_.size(); ++grown) add_neighbours(*group_[grown]);
    for (const Node* node : group_) member_[node->id()] = false;
    std::ranges::sort(group_, {}, [&](const Node* node) {
      return position_[node->id()];
    });
    return group_;
  }

 private:
  void add(NodePtr node) {
    if (member_[node->id()]) return;
    member_[node->id()] = true;
    group_.push_back(node);
    first_ = std::min(first_, position_[node->id()]);
    last_ = std::max(last_, position_[node->id()]);
  }

  void add_neighbours(const Node& node) {
    if (!holds_tensor(node))
      for (NodePtr user : node.users())
        if (is_callable_node(*user)) add(user);
    for (NodePtr input : node.all_input_nodes())
      if (is_callable_node(*input) && !holds_tensor(*input)) add(input);
  }

  // Nodes on a way from the group to the group.
  void add_what_lies_between() {
    if (last_ - first_ + 1 == group_.size()) return;
    std::vector<NodePtr> below;
    for (size_t i = first_; i <= last_; ++i) {
      const NodePtr node = nodes_[i];
      reached_[node->id()] =
          std::ranges::any_of(node->all_input_nodes(), [&](const Node* input) {
            return position_[input->id()] >= first_ &&
                   (member_[input->id()] || reached_[input->id()]);
          });
      if (reached_[node->id()] && !member_[node->id()]) below.push_back(node);
    }
    // Keeps the nodes that a member needs; users come first.
    for (size_t i = below.size(); i-- > 0;) {
      if (std::ranges::any_of(below[i]->users(), [&](const Node* user) {
            return member_[user->id()];
          }))
        add(below[i]);
    }
  }

  std::vector<NodePtr> nodes_;
  std::vector<size_t> position_;  // By node id, as the flags.
  std::vector<bool> member_;
  std::vector<bool> reached_;
  std::vector<NodePtr> group_;
  size_t first_ = 0, last_ = 0;
};

}  // namespace

bool is_node_output_tensor(const Node& node) {
  const Value* const type = node.meta().find("type");
  return type && type->is_string() && type->as_string() == "Tensor";
}

NodeGroups find_fusion_groups(const GraphModule& module,
                              std::vector<NodePtr>& acc_nodes) {
  std::vector<bool> allowed(module.graph().id_bound());
  for (const Node* node : acc_nodes) allowed[node->id()] = true;
  GroupFinder finder(module);
  NodeGroups groups;
  for (NodePtr node : acc_nodes) {
    if (!allowed[node->id()] || !is_callable_node(*node) ||
        holds_tensor(*node) || groups.contains(node))
      continue;
    const auto group =
        std::make_shared<const std::vector<NodePtr>>(finder.group_of(node));
    const bool whole =
        std::all_of(group->begin(), group->end(),
                    [&](const Node* member) { return allowed[member->id()]; });
    for (const Node* member : *group) {
      if (whole) {
        groups[member] = group;
      } else {
        allowed[member->id()] = false;
      }
    }
  }
  std::erase_if(acc_nodes,
                [&](const Node* node) { return !allowed[node->id()]; });
  return groups;
}

}  // namespace fxjit::fx::passes
