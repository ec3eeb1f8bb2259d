// Hooks on edits of a graph, and which calls count as impure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"
#include "src/fx/graph/node_hooks.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::ElementsAre;

std::string text(const Node& node) { return std::string(node.name()); }

nn::Ref<GraphModule> traced() {
  return symbolic_trace([](Value x) -> Value { return relu(x + 1); }, {"x"},
                        "f");
}

TEST(NodeHooks, LearnOfEveryEdit) {
  const auto gm = traced();
  std::vector<std::string> seen;
  gm->register_create_node_hook(
      [&](Node& node) { seen.push_back("create " + text(node)); });
  gm->register_erase_node_hook(
      [&](Node& node) { seen.push_back("erase " + text(node)); });
  gm->register_replace_node_hook(
      [&](Node& old_node, std::string_view new_name, Node& user) {
        seen.push_back(text(old_node) + " by " + std::string(new_name) +
                       " in " + text(user));
      });
  Graph& graph = gm->graph();
  const NodePtr relu = graph.find_node("relu");
  {
    const auto scope = graph.inserting_after(relu);
    const NodePtr neg = graph.call_function("operator.neg", {relu->args()[0]});
    relu->replace_all_uses_with(neg);
    graph.erase_node(relu);
    neg->rename("minus");
    graph.output_node()->replace_input_with(neg, graph.find_node("add"));
  }
  EXPECT_THAT(seen,
              ElementsAre("create neg", "relu by neg in output", "erase relu",
                          "neg by minus in output", "minus by add in output"));
}

TEST(NodeHooks, FollowTheModuleAndItsCopies) {
  const auto gm = traced();
  int count = 0;
  const HookId id = gm->register_create_node_hook([&](Node&) { ++count; });
  gm->set_graph(gm->graph().copy());
  gm->graph().call_function("operator.neg", {gm->graph().find_node("x")});
  EXPECT_EQ(count, 1);
  const auto copy = gm->copy();
  copy->graph().call_function("operator.neg", {copy->graph().find_node("x")});
  EXPECT_EQ(count, 2);
  gm->unregister_node_hook(id);
  gm->graph().call_function("operator.neg", {gm->graph().find_node("x")});
  EXPECT_EQ(count, 2);
  EXPECT_THROW(gm->unregister_node_hook(id), ValueError);
  EXPECT_THROW(gm->register_create_node_hook(nullptr), ValueError);
}

TEST(NodeHooks, RefuseEditsByThrowing) {
  const auto gm = traced();
  Graph& graph = gm->graph();
  graph.hooks().add_create([](Node&) { throw RuntimeError("no"); });
  graph.hooks().add_erase([](Node&) { throw RuntimeError("no"); });
  graph.hooks().add_replace([](Node&, std::string_view, Node& user) {
    if (user.is(Opcode::output)) throw RuntimeError("no");
  });
  const NodePtr x = graph.find_node("x");
  const NodePtr relu = graph.find_node("relu");
  const NodePtr add = graph.find_node("add");
  const std::string before = graph.str();
  EXPECT_THROW(graph.call_function("operator.neg", {x}), RuntimeError);
  EXPECT_THROW(relu->replace_all_uses_with(add), RuntimeError);
  EXPECT_THROW(relu->rename("other"), RuntimeError);
  graph.lint();
  EXPECT_EQ(graph.str(), before);
  add->replace_all_uses_with(x);
  EXPECT_THROW(graph.erase_node(add), RuntimeError);
  EXPECT_EQ(add->num_users(), 0u);
  EXPECT_FALSE(add->erased());
}

TEST(Purity, FunctionsMayBeDeclaredImpure) {
  define_function("tests.announce",
                  [](const ValueList& args, const Kwargs&) { return args[0]; });
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr call = graph.call_function("tests.announce", {x});
  EXPECT_FALSE(call->is_impure());
  has_side_effect("tests.announce");
  EXPECT_TRUE(is_side_effectful(call->target()));
  EXPECT_TRUE(call->is_impure());
  graph.output(x);
  EXPECT_FALSE(graph.eliminate_dead_code());
  EXPECT_TRUE(graph.eliminate_dead_code(
      [](const Node& node) { return node.is(Opcode::output); }));
  EXPECT_THROW(has_side_effect("tests.unknown"), KeyError);
  EXPECT_THROW(has_side_effect(Target("text")), ValueError);
}

TEST(Purity, InPlaceCallsAreKept) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        method(x, "zero_");
        nn::functional::relu(x, /*inplace=*/true);
        method(x, "some_user_method_");
        method(x, "__setitem__", {0, 1});
        method(x, "__iadd__", {1});
        method(x, "__add__", {1});
        relu(x);
        return x;
      },
      {"x"}, "f");
  EXPECT_TRUE(gm->graph().eliminate_dead_code());
  std::vector<std::string> names;
  for (const Node* node : gm->graph().nodes()) names.push_back(text(*node));
  EXPECT_THAT(names,
              ElementsAre("x", "zero_", "relu", "some_user_method_", "setitem",
                          "iadd", "output"));
}

TEST(Purity, CallsWithAnOutArgumentAreKept) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  EXPECT_TRUE(
      graph.call_function("torch.relu", {x}, {{"out", y}})->is_impure());
  EXPECT_FALSE(
      graph.call_function("torch.relu", {x}, {{"out", None}})->is_impure());
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
