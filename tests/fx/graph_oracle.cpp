#include "tests/fx/graph_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace fxjit::fx {
namespace {

// The distinct nodes of args, then kwargs, in order of appearance.
std::vector<NodePtr> inputs_of(const Node& node) {
  std::vector<NodePtr> inputs;
  auto visit = [&](const Value& leaf) {
    if (leaf.is_node() && std::find(inputs.begin(), inputs.end(),
                                    leaf.as_node()) == inputs.end())
      inputs.push_back(leaf.as_node());
  };
  for (const Value& arg : node.args()) visit_leaves(arg, visit);
  for (const auto& [key, arg] : node.kwargs()) visit_leaves(arg, visit);
  return inputs;
}

}  // namespace

void expect_consistent(const Graph& graph) {
  std::unordered_map<const Node*, std::set<const Node*>> users;
  std::set<std::string_view> names;
  std::set<uint32_t> ids;
  std::vector<NodePtr> forward;
  for (NodePtr node : graph.nodes()) {
    forward.push_back(node);
    EXPECT_FALSE(node->erased());
    EXPECT_EQ(&node->graph(), &graph);
    EXPECT_TRUE(names.insert(node->name()).second) << node->name();
    EXPECT_TRUE(ids.insert(node->id()).second);
    EXPECT_LT(node->id(), graph.id_bound());
    const std::vector<NodePtr> inputs = inputs_of(*node);
    // In any order: as in torch, what insert_arg adds comes last.
    EXPECT_THAT(node->all_input_nodes().list(),
                testing::UnorderedElementsAreArray(inputs))
        << node->name();
    for (const Node* input : inputs) users[input].insert(node);
  }
  EXPECT_EQ(forward.size(), graph.size());
  std::vector<NodePtr> backward = graph.nodes().reversed().list();
  std::reverse(backward.begin(), backward.end());
  EXPECT_EQ(backward, forward);
  for (const Node* node : forward) {
    const std::vector<NodePtr> list = node->users().list();
    EXPECT_EQ(list.size(), node->num_users());
    EXPECT_EQ(std::set<const Node*>(list.begin(), list.end()), users[node])
        << node->name();
    EXPECT_EQ(std::set<const Node*>(list.begin(), list.end()).size(),
              list.size());
    for (const Node* user : list) EXPECT_TRUE(node->has_user(user));
  }
}

}  // namespace fxjit::fx
