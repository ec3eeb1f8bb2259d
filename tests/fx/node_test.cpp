#include "fxjit/fx/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/fx/graph.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<NodePtr> users(const Node* node) { return node->users().list(); }
std::vector<NodePtr> inputs(const Node* node) {
  return node->all_input_nodes().list();
}

TEST(Node, AllInputNodesAreUniqueAndInOrder) {
  Graph graph;
  const NodePtr a = graph.placeholder("x");
  const NodePtr b = graph.call_module("linear_mod", {a});
  const NodePtr c = graph.get_attr("y_attr");
  const NodePtr d = graph.call_function("torch.add", {b, c});
  const NodePtr e =
      graph.call_function("torch.cat", {Value::list({d, b, d})}, {{"z", c}});
  graph.output(e);
  EXPECT_THAT(inputs(a), IsEmpty());
  EXPECT_THAT(inputs(b), ElementsAre(a));
  EXPECT_THAT(inputs(d), ElementsAre(b, c));
  EXPECT_THAT(inputs(e), ElementsAre(d, b, c));
}

TEST(Node, InputsAreFoundAtAnyDepth) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr out =
      graph.output(Value::tuple({Value::dict({{"k", x}, {3, Value::list({y})}}),
                                 Value::slice(x, None, 2), 1.5}));
  EXPECT_THAT(inputs(out), ElementsAre(x, y));
  EXPECT_EQ(graph.str(),
            "graph():\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %y : [num_users=1] = placeholder[target=y]\n"
            "    return ({'k': x, 3: [y]}, slice(x, None, 2), 1.5)");
}

// The orders are those that torch gives.
TEST(Node, UsersFollowArguments) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr z = graph.placeholder("z");
  const NodePtr a = graph.call_function("torch.add", {x, y});
  const NodePtr b = graph.call_function("torch.add", {x, z});
  const NodePtr c = graph.call_function("torch.sub", {x, a});
  EXPECT_THAT(users(x), ElementsAre(a, b, c));
  a->set_arg(1, z);
  EXPECT_THAT(users(x), ElementsAre(b, c, a));
  EXPECT_THAT(users(z), ElementsAre(b, a));
  EXPECT_THAT(users(y), IsEmpty());
  b->replace_input_with(z, y);
  EXPECT_THAT(users(x), ElementsAre(c, a, b));
  EXPECT_THAT(users(y), ElementsAre(b));
  a->set_args({x, y});
  a->set_kwargs({{"alpha", 2}});
  EXPECT_THAT(users(x), ElementsAre(c, b, a));
  EXPECT_TRUE(x->has_user(c));
  EXPECT_FALSE(y->has_user(c));
}

TEST(Node, UsingANodeTwiceIsOneUse) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr add = graph.call_function("_operator.add", {x, x});
  EXPECT_EQ(x->num_users(), 1u);
  add->set_arg(0, y);
  EXPECT_EQ(x->num_users(), 1u);
  add->set_arg(1, y);
  EXPECT_EQ(x->num_users(), 0u);
  EXPECT_EQ(y->num_users(), 1u);
}

TEST(Node, UpdateApis) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr z = graph.placeholder("z");
  const NodePtr n = graph.call_method("foo", {x, y});
  n->insert_arg(1, Value::list({z, x}));
  EXPECT_TRUE(same(n->args()[1].at(0), Value(z)));
  EXPECT_THAT(inputs(n), ElementsAre(x, y, z));
  EXPECT_THAT(users(x), ElementsAre(n));
  n->set_kwarg("k", z);
  n->set_kwarg("k", y);
  EXPECT_EQ(n->kwargs().size(), 1u);
  EXPECT_EQ(n->kwarg("k").as_node(), y);
  EXPECT_THROW(n->set_arg(7, 1), IndexError);
  EXPECT_THROW(n->insert_arg(9, 1), AssertionError);
  EXPECT_THROW(n->kwarg("no"), KeyError);
  EXPECT_THROW(n->arg(9), IndexError);
  graph.lint();
}

TEST(Node, ReplaceAllUsesWithReturnsTheUsersChanged) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr a = graph.call_method("relu", {x});
  const NodePtr b = graph.call_function("torch.cat", {Value::list({x, a})});
  const NodePtr out = graph.output(Value::tuple({b, x}));
  EXPECT_THAT(x->replace_all_uses_with(y), ElementsAre(a, b, out));
  EXPECT_EQ(x->num_users(), 0u);
  EXPECT_THAT(users(y), ElementsAre(a, b, out));
  EXPECT_EQ(out->format_node(), "return (cat, y)");
}

TEST(Node, ReplaceAllUsesWithAsksPerUser) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr relu = graph.call_method("relu", {x});
  const NodePtr neg = graph.call_method("neg", {relu});
  const NodePtr out = graph.output(Value::tuple({relu, neg}));
  const NodePtr tanh = [&] {
    const auto scope = graph.inserting_after(relu);
    return graph.call_method("tanh", {relu});
  }();
  EXPECT_THAT(
      relu->replace_all_uses_with(
          tanh, [&](NodePtr user) { return user != tanh && user != neg; }),
      ElementsAre(out));
  EXPECT_THAT(users(relu), ElementsAre(neg, tanh));
  graph.lint();
}

TEST(Node, PropagatesMetaOnRequest) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr relu = graph.call_method("relu", {x});
  relu->meta().set("tag", 7);
  const NodePtr neg = graph.call_method("neg", {x});
  graph.output(relu);
  relu->replace_all_uses_with(neg, nullptr, /*propagate_meta=*/true);
  EXPECT_EQ(neg->meta().at("tag").as_int(), 7);
  EXPECT_THROW(relu->replace_all_uses_with(neg, nullptr, true), AssertionError);
}

TEST(Node, MovesInTheList) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_method("a", {x});
  const NodePtr b = graph.call_method("b", {x});
  a->prepend(b);
  EXPECT_THAT(graph.nodes().list(), ElementsAre(x, b, a));
  x->append(a);
  EXPECT_THAT(graph.nodes().list(), ElementsAre(x, a, b));
  b->prepend(b);
  b->append(b);
  EXPECT_THAT(graph.nodes().list(), ElementsAre(x, a, b));
  EXPECT_TRUE(x->precedes(b));
  EXPECT_FALSE(b->precedes(a));

  Graph other;
  EXPECT_THROW(a->append(other.placeholder("y")), AssertionError);
}

TEST(Node, PurityFollowsTheOpTable) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  EXPECT_TRUE(x->is_impure());
  EXPECT_FALSE(graph.call_function("torch.relu", {x})->is_impure());
  EXPECT_FALSE(graph.call_method("relu", {x})->is_impure());
  EXPECT_TRUE(graph.call_method("some_user_method_", {x})->is_impure());
  EXPECT_FALSE(graph.get_attr("w")->is_impure());
}

TEST(Node, KeepsMetaInOrder) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const Node* const reader = x;
  EXPECT_TRUE(reader->meta().empty());
  x->meta().set("b", 1);
  x->meta().set("a", 2);
  x->meta().set("b", 3);
  std::string keys;
  for (const auto& [key, value] : x->meta()) keys += key;
  EXPECT_EQ(keys, "ba");
  EXPECT_THROW(x->meta().at("c"), KeyError);
  EXPECT_TRUE(x->meta().erase("b"));
  EXPECT_FALSE(x->meta().contains("b"));
}

TEST(Node, ValTensorNamesTheNode) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  x->set_val(Tensor::meta({2, 3}, DType::f32));
  EXPECT_EQ(x->val_tensor().sizes(), (Dims{2, 3}));
  x->set_val(None);
  try {
    x->val_tensor();
    FAIL() << "expected an error";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("%x"));
  }
}

TEST(Node, MapsArguments) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const Value nested =
      Value::tuple({x, Value::dict({{"k", Value::slice(x, 1)}})});
  const Value mapped = map_arg(nested, [](NodePtr) { return Value(5); });
  EXPECT_EQ(repr(mapped), "(5, {'k': slice(5, 1, None)})");
  int leaves = 0;
  map_aggregate(nested, [&](const Value& leaf) {
    ++leaves;
    return leaf;
  });
  EXPECT_EQ(leaves, 4);
}

TEST(Node, NullNodesAreNone) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr call = graph.call_function("torch.relu", {x});
  graph.output(call);
  EXPECT_THROW(call->append(nullptr), TypeError);
  EXPECT_THROW(graph.erase_node(graph.find_node("y")), AttributeError);
  call->set_arg(0, static_cast<NodePtr>(nullptr));
  EXPECT_TRUE(call->arg(0).is_none());
  EXPECT_THAT(users(x), IsEmpty());
  graph.lint();
}

TEST(Node, UnknownOpcodesAreRefused) {
  Graph graph;
  EXPECT_THROW(graph.create_node(static_cast<Opcode>(77), "x"), AssertionError);
  EXPECT_EQ(graph.size(), 0u);
}

TEST(Node, GraphsAreCopiedIntoThemselves) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.call_function("torch.relu", {x});
  ValueMap map;
  graph.graph_copy(graph, map);
  EXPECT_EQ(graph.size(), 4u);
  graph.lint();
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
