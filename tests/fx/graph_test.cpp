#include "fxjit/fx/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/wrap.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node* node : graph.nodes()) result.emplace_back(node->name());
  return result;
}

template <typename E, typename Fn>
std::string message_of(Fn fn) {
  try {
    fn();
  } catch (const E& error) {
    return error.message();
  }
  return "no error";
}

TEST(Graph, InsertPoints) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr relu = graph.call_method("relu", {x});
  {
    const auto scope = graph.inserting_before(relu);
    const NodePtr neg = graph.call_method("neg", {x});
    graph.call_method("tanh", {neg});
  }
  graph.output(relu);
  EXPECT_THAT(names(graph), ElementsAre("x", "neg", "tanh", "relu", "output"));
}

// As in torch, each node goes right behind the anchor again.
TEST(Graph, InsertingAfterReversesOrder) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  {
    const auto scope = graph.inserting_after(x);
    graph.call_method("neg", {x});
    graph.call_method("abs", {x});
  }
  EXPECT_THAT(names(graph), ElementsAre("x", "abs_1", "neg"));
}

TEST(Graph, InsertPointsAtTheEnds) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  {
    const auto start = graph.inserting_before();
    graph.placeholder("first");
    const auto end = graph.inserting_after();
    graph.call_method("last", {x});
  }
  EXPECT_THAT(names(graph), ElementsAre("first", "x", "last"));
}

TEST(Graph, InsertPointsNestAndStay) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr relu = graph.call_method("relu", {x});
  graph.inserting_before(relu).keep();
  graph.call_method("neg", {x});
  {
    const auto inner = graph.inserting_after(relu);
    graph.call_method("tanh", {relu});
  }
  graph.call_method("cos", {x});
  EXPECT_THAT(names(graph), ElementsAre("x", "neg", "cos", "relu", "tanh"));
}

TEST(Graph, InsertPointSurvivesErasingItsAnchor) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_method("a", {x});
  const NodePtr b = graph.call_method("b", {x});
  graph.inserting_before(a).keep();
  {
    const auto scope = graph.inserting_after(b);
    graph.erase_node(a);
    graph.erase_node(b);
    graph.call_method("c", {x});
  }
  graph.call_method("d", {x});
  EXPECT_THAT(names(graph), ElementsAre("x", "c", "d"));
  graph.lint();
}

TEST(Graph, EraseNodeErrors) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr neg = graph.call_method("neg", {x});
  const NodePtr abs = graph.call_method("abs", {x});
  EXPECT_EQ(message_of<RuntimeError>([&] { graph.erase_node(x); }),
            "Tried to erase Node x but it still had 2 users in the graph: "
            "{neg: None, abs_1: None}!");
  Graph other;
  EXPECT_EQ(message_of<RuntimeError>([&] { other.erase_node(neg); }),
            "Attempting to remove neg from wrong graph!");
  graph.erase_node(neg);
  graph.erase_node(abs);
  EXPECT_EQ(x->num_users(), 0u);
  EXPECT_EQ(graph.size(), 1u);
  graph.erase_node(abs);  // Again: nothing happens.
  EXPECT_EQ(graph.size(), 1u);
}

TEST(Graph, IterationSurvivesEdits) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  for (int i = 0; i < 6; ++i) graph.call_method("neg", {x});
  int seen = 0;
  for (NodePtr node : graph.nodes()) {
    ++seen;
    if (!node->is(Opcode::call_method)) continue;
    // This one and the next: the iterator stands on an erased node.
    const NodePtr next = node->next();
    graph.erase_node(node);
    if (next->is(Opcode::call_method)) graph.erase_node(next);
  }
  EXPECT_EQ(seen, 4);
  EXPECT_THAT(names(graph), ElementsAre("x"));
}

TEST(Graph, NodesReversed) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_method("a", {x});
  EXPECT_THAT(graph.nodes().reversed().list(), ElementsAre(a, x));
  EXPECT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(graph.nodes().back(), a);
  EXPECT_EQ(graph.nodes().front(), x);
}

TEST(Graph, CreateNodeChecksTargets) {
  Graph graph;
  graph.placeholder("x");
  EXPECT_EQ(message_of<ValueError>(
                [&] { graph.create_node(Opcode::call_function, "abc"); }),
            "Node [graph = graph():\n"
            "    %x : [num_users=0] = placeholder[target=x], name = 'abc'] "
            "target abc "
            "has type str but a Callable is expected");
  EXPECT_THAT(message_of<ValueError>([&] {
                graph.create_node(Opcode::call_method,
                                  ops::get_function("torch.add"));
              }),
              HasSubstr("but a str is expected"));
  EXPECT_EQ(message_of<AssertionError>([] { opcode_from_name("foo"); }),
            "op 'foo' is not in _legal_ops");
  EXPECT_THROW(graph.call_function("torch.no_such_function"), KeyError);
  EXPECT_EQ(graph.size(), 1u);
}

TEST(Graph, OutputNodeMustBeLast) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  EXPECT_EQ(message_of<AssertionError>([&] { graph.output_node(); }),
            "Expected output node, got op=placeholder");
  const NodePtr output = graph.output(x);
  EXPECT_EQ(graph.output_node(), output);
}

TEST(Graph, FindNodes) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_method("a", {x});
  const NodePtr b = graph.call_method("b", {x});
  const NodePtr c = graph.call_function("torch.relu", {x});
  EXPECT_THAT(graph.find_nodes(Opcode::call_method), ElementsAre(a, b));
  EXPECT_THAT(graph.find_nodes(Opcode::call_method, "b"), ElementsAre(b));
  EXPECT_THAT(
      graph.find_nodes(Opcode::call_function, ops::get_function("torch.relu")),
      ElementsAre(c));
  EXPECT_THAT(graph.find_nodes(Opcode::call_function, "torch.relu"),
              ElementsAre(c));
  EXPECT_THAT(graph.find_nodes(Opcode::call_function, "operator.add"),
              IsEmpty());
  EXPECT_THROW(graph.find_nodes(Opcode::call_function, "torch.rellu"),
               KeyError);
  EXPECT_EQ(graph.find_node("b"), b);
  EXPECT_EQ(graph.find_node("z"), nullptr);
}

TEST(Graph, TargetsAreSetByPrintedName) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr call = graph.call_function("torch.relu", {x});
  call->set_target("operator.neg");
  EXPECT_EQ(call->target().spelling(), &ops::get_function("_operator.neg"));
  EXPECT_THROW(call->set_target("torch.rellu"), KeyError);
  EXPECT_EQ(call->target().pretty(), "operator.neg");
  const NodePtr method = graph.call_method("relu", {x});
  method->set_target("neg");
  EXPECT_EQ(method->target_name(), "neg");
  EXPECT_THROW(method->set_target(ops::get_function("torch.relu")), ValueError);
}

TEST(GraphCopy, IsDeepAndIndependent) {
  Graph graph;
  const NodePtr x = graph.placeholder("x", "torch.Tensor", Value(1));
  const NodePtr a = graph.call_function("torch.add", {x, x}, {{"alpha", 2}});
  a->meta().set("tag", 1);
  a->set_val(Tensor::meta({2}, DType::f32));
  graph.output(Value::list({a, x}));
  const auto copy = graph.copy();
  EXPECT_EQ(copy->str(), graph.str());
  const NodePtr copied = copy->find_node("add");
  EXPECT_EQ(copied->meta().at("tag").as_int(), 1);
  EXPECT_TRUE(copied->val().is_tensor());
  copied->meta().set("tag", 2);
  copied->set_arg(1, 5);
  EXPECT_EQ(a->meta().at("tag").as_int(), 1);
  EXPECT_EQ(graph.find_node("add")->args()[1].as_node(), x);
  copy->lint();
}

TEST(GraphCopy, PrefilledMapOverrides) {
  Graph inner;
  const NodePtr ix = inner.placeholder("x");
  inner.output(inner.call_method("neg", {inner.call_method("relu", {ix})}));

  Graph graph;
  const NodePtr y = graph.placeholder("y");
  ValueMap map = {{ix, Value(y)}};
  const Value result = graph.graph_copy(inner, map);
  graph.output(result);
  graph.lint();
  EXPECT_EQ(
      graph.str(),
      "graph():\n"
      "    %y : [num_users=1] = placeholder[target=y]\n"
      "    %relu : [num_users=1] = call_method[target=relu](args = (%y,), "
      "kwargs = {})\n"
      "    %neg : [num_users=1] = call_method[target=neg](args = "
      "(%relu,), kwargs = {})\n"
      "    return neg");
}

TEST(GraphCopy, RefusesForeignInputs) {
  Graph first;
  const NodePtr x = first.placeholder("x");
  Graph second;
  second.call_method("neg", {x});
  Graph third;
  ValueMap map;
  EXPECT_THROW(third.graph_copy(second, map), KeyError);
}

TEST(Lint, FindsForeignNodes) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  Graph copied;
  copied.node_copy(*graph.call_method("neg", {x}));
  EXPECT_THAT(message_of<RuntimeError>([&] { copied.lint(); }),
              HasSubstr("Argument 'x' of Node 'neg' does not belong to this "
                        "Graph, but was used as an argument!"));
}

TEST(Lint, FindsUseBeforeDefinition) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr neg = graph.call_method("neg", {x});
  const NodePtr abs = graph.call_method("abs", {neg});
  neg->prepend(abs);
  EXPECT_THAT(message_of<RuntimeError>([&] { graph.lint(); }),
              HasSubstr("Argument 'neg' of Node 'abs_1' was used before it has "
                        "been defined! Please check that Nodes in the graph "
                        "are topologically ordered\ngraph():"));
}

TEST(Lint, FindsDuplicateNames) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.call_method("neg", {x})->force_name("x");
  EXPECT_EQ(message_of<RuntimeError>([&] { graph.lint(); }),
            "Node redefined name x!");
}

TEST(Lint, FindsMissingTargets) {
  nn::Module root("M");
  const auto child = std::make_shared<nn::Module>("C");
  root.register_module("a", child);
  root.register_parameter("w", Tensor::zeros({2}));
  const auto lint = [&](Opcode op, const char* target) {
    Graph graph;
    graph.create_node(op, target);
    return message_of<RuntimeError>([&] { graph.lint(&root); });
  };
  EXPECT_EQ(lint(Opcode::get_attr, "w"), "no error");
  EXPECT_EQ(lint(Opcode::call_module, "a"), "no error");
  EXPECT_EQ(lint(Opcode::get_attr, "b.c"),
            "Node b_c target b.c references nonexistent attribute b of ");
  EXPECT_EQ(lint(Opcode::get_attr, "a.c"),
            "Node a_c target a.c references nonexistent attribute c of a");
  EXPECT_EQ(lint(Opcode::call_module, "w"),
            "Node w target w w of  does not reference an nn.Module");
}

TEST(DeadCode, RemovesChains) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.placeholder("unused");
  const NodePtr a = graph.call_function("_operator.add", {x, 1});
  graph.call_function("_operator.add", {a, 2});
  graph.get_attr("w");
  graph.output(x);
  EXPECT_TRUE(graph.eliminate_dead_code());
  EXPECT_THAT(names(graph), ElementsAre("x", "unused", "output"));
  EXPECT_FALSE(graph.eliminate_dead_code());
}

TEST(DeadCode, KeepsEffects) {
  const Wrapped effect = wrap(
      "dead_code_test_effect", [](Value v) { return v; }, ops::Purity::effect);
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr kept = graph.call_function(effect.function(), {x});
  graph.call_function("torch.relu", {kept});
  graph.output(x);
  EXPECT_TRUE(graph.eliminate_dead_code());
  EXPECT_THAT(names(graph),
              ElementsAre("x", "dead_code_test_effect", "output"));
  EXPECT_TRUE(graph.eliminate_dead_code(
      [](const Node& n) { return !n.num_users() && n.is(Opcode::output); }));
  EXPECT_THAT(names(graph), ElementsAre("x", "output"));
}

TEST(DeadCode, LintsFirst) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr neg = graph.call_method("neg", {x});
  neg->prepend(graph.call_method("abs", {neg}));
  EXPECT_THROW(graph.eliminate_dead_code(), RuntimeError);
}

// Every step of a random editor leaves lists and counts consistent.
TEST(Graph, RandomEditsKeepInvariants) {
  std::mt19937 random(7);
  Graph graph;
  graph.placeholder("x");
  for (int step = 0; step < 2000; ++step) {
    const std::vector<NodePtr> nodes = graph.nodes().list();
    const NodePtr node = nodes[random() % nodes.size()];
    const NodePtr earlier = nodes[random() % nodes.size()];
    switch (random() % 4) {
      case 0: {
        const auto scope = graph.inserting_after(node);
        graph.call_method("f", {node, Value::list({graph.nodes().front()})});
        break;
      }
      case 1:
        if (node->num_users() == 0 && graph.size() > 1) graph.erase_node(node);
        break;
      case 2:
        if (earlier->precedes(node)) node->set_kwarg("k", earlier);
        break;
      default:
        if (node->num_users() && earlier->precedes(node))
          node->replace_all_uses_with(earlier);
        break;
    }
    graph.lint();
    size_t uses = 0, inputs = 0;
    for (const Node* n : graph.nodes()) {
      uses += n->num_users();
      ASSERT_EQ(n->users().list().size(), n->num_users());
      inputs += n->all_input_nodes().size();
      for (NodePtr user : n->users()) ASSERT_TRUE(n->has_user(user));
    }
    ASSERT_EQ(uses, inputs);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
