// Null handles, erased nodes, cycles and values nested too deep: each is a
// typed error, and what was there before stays as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/nn/containers.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;

template <typename E>
std::string error_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const E& error) {
    return error.message();
  }
  return "no error";
}

nn::Ref<GraphModule> identity() {
  return symbolic_trace([](Value x) -> Value { return x; }, {"x"});
}

TEST(Misuse, NullHandlesAreTypeErrors) {
  const nn::Ref<nn::Linear> none;
  EXPECT_EQ(error_of<AssertionError>([&] { symbolic_trace(none); }),
            "Expected FunctionType, got <class 'NoneType'>");
  EXPECT_EQ(error_of<AssertionError>(
                [&] { symbolic_trace(TracedFunction{"f", {"x"}, nullptr}); }),
            "Expected FunctionType, got <class 'NoneType'>");
  Value (*const no_function)(Value) = nullptr;
  EXPECT_THROW(symbolic_trace(no_function, {"x"}), AssertionError);
  EXPECT_THROW(none(Tensor::zeros({2})), TypeError);
  EXPECT_THROW(none(), TypeError);
  EXPECT_THROW(none->eval(), TypeError);
  EXPECT_THROW(Transformer(nn::Ref<GraphModule>()), TypeError);
  EXPECT_THROW(proxy(nullptr), AttributeError);
  EXPECT_THROW(Value::proxy(nullptr), TypeError);
  EXPECT_THROW(Value::opaque(nullptr), TypeError);
  EXPECT_THROW(Attribute(3, "x"), TypeError);
}

TEST(Misuse, NullModulesAreNotThere) {
  nn::Module root;
  root.register_module("none", nn::ModuleRef());
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  graph->output(graph->call_module("none.inner", {x}));
  EXPECT_THROW(GraphModule::create(root, std::move(graph)), AttributeError);
  const auto gm = identity();
  gm->register_module("none", nn::ModuleRef());
  EXPECT_TRUE(gm->add_submodule("none.inner", nn::Linear::create(2, 2)));
  EXPECT_NE(gm->find_submodule("none.inner"), nullptr);
  const auto chain = nn::Sequential::create();
  chain->append(nn::ModuleRef());
  EXPECT_THROW(chain(Tensor::zeros({2})), TypeError);
}

TEST(Misuse, ErasedNodesAreRefused) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.call_function("torch.neg", {x});
  const NodePtr gone =
      graph.call_function("torch.neg", {x, Value::list({x, 1})});
  const NodePtr output = graph.output(y);
  graph.erase_node(gone);
  EXPECT_EQ(gone->format_node(),
            "%neg_1 : [num_users=0] = call_function[target=torch.neg](args = "
            "(None, [None, 1]), kwargs = {})");
  const std::string before = graph.str();
  const std::vector<std::function<void()>> edits = {
      [&] { gone->append(y); },
      [&] { gone->prepend(y); },
      [&] { y->append(gone); },
      [&] { y->prepend(gone); },
      [&] { gone->set_args({x}); },
      [&] { gone->set_kwargs({{"a", x}}); },
      [&] { gone->set_kwarg("a", x); },
      [&] { gone->insert_arg(0, x); },
      [&] { gone->rename("z"); },
      [&] { y->set_args({gone}); },
      [&] { y->set_arg(0, Value::tuple({gone})); },
      [&] { y->set_kwarg("a", gone); },
      [&] { y->insert_arg(1, gone); },
      [&] { x->replace_all_uses_with(gone); },
      [&] { output->replace_input_with(y, gone); },
      [&] { graph.call_function("torch.neg", {gone}); },
      [&] { graph.output(Value::dict({{"a", gone}})); },
      [&] { graph.node_copy(*gone); },
      [&] { proxy(gone) + 1; },
  };
  for (const auto& edit : edits)
    EXPECT_EQ(error_of<RuntimeError>(edit),
              "Node neg_1 has been erased from its graph");
  EXPECT_EQ(graph.str(), before);
  EXPECT_EQ(graph.size(), 3u);
  graph.lint();
}

TEST(Misuse, ModulesFormTrees) {
  const auto gm = identity();
  const std::string before = gm->str();
  EXPECT_THROW(gm->add_submodule("a", gm), ValueError);
  EXPECT_THROW(gm->add_submodule("a.b.c", gm), ValueError);
  EXPECT_EQ(gm->str(), before);
  const auto outer = nn::Sequential::create();
  const auto inner = nn::Sequential::create();
  outer->append(inner);
  EXPECT_THROW(inner->append(outer), ValueError);
  EXPECT_THROW(inner->register_module("x", inner), ValueError);
  EXPECT_TRUE(outer->holds(*inner));
  EXPECT_FALSE(inner->holds(*outer));
  outer->append(inner);  // In two places: still no cycle.
  EXPECT_EQ(outer->named_modules().size(), 2u);
}

TEST(Misuse, DeepModulesAreRefusedAndDestroyed) {
  nn::ModuleRef top(std::make_shared<nn::Module>());
  nn::Module* last = top.get();
  for (int i = 0; i < 200000; ++i)
    last = last->register_module("m", nn::ModuleRef(
                                          std::make_shared<nn::Module>()))
               .get();
  EXPECT_THROW(top->named_modules(), RuntimeError);
  EXPECT_THROW(top->repr(), RuntimeError);
  EXPECT_THROW(top->train(), RuntimeError);
  EXPECT_THROW(top->state_dict(), RuntimeError);
  EXPECT_THROW(nn::deep_copy(*top), RuntimeError);
  top = {};
}

TEST(Misuse, DeepValuesAreRefused) {
  Value nested = 1;
  for (int i = 0; i < Value::kMaxNesting; ++i) nested = Value::tuple({nested});
  const std::string text = "maximum recursion depth exceeded: expected values "
                           "nested at most 200 deep";
  EXPECT_EQ(error_of<RuntimeError>([&] { Value::tuple({nested}); }), text);
  EXPECT_EQ(error_of<RuntimeError>([&] { Value::list({1, nested}); }), text);
  EXPECT_EQ(error_of<RuntimeError>([&] { Value::dict({{"a", nested}}); }), text);
  EXPECT_EQ(error_of<RuntimeError>([&] { Value::slice(None, nested); }), text);
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.call_function("torch.add", {x, nested}, {{"alpha", nested}});
  graph.output(x);
  EXPECT_EQ(graph.copy()->str(), graph.str());
  EXPECT_THAT(graph.tabular(), HasSubstr("(((((("));
  EXPECT_EQ(fx::text(*parse_graph(fx::text(graph))), fx::text(graph));
}

TEST(Misuse, DeepAttributesAreRefused) {
  Graph graph;
  Value value = proxy(graph.placeholder("x"));
  EXPECT_THAT(error_of<RuntimeError>([&] {
                for (int i = 0; i < 200000; ++i) value = getattr(value, "T");
              }),
              HasSubstr("maximum recursion depth exceeded"));
  EXPECT_EQ(graph.size(), 1u);
  node_of(value);
  EXPECT_EQ(graph.size(), 1u + Value::kMaxNesting);
}

TEST(Misuse, ArgumentNamesArePythons) {
  auto declare = [](std::vector<nn::ArgSpec> args) {
    return error_of<SyntaxError>([&] { nn::Signature s(std::move(args)); });
  };
  EXPECT_EQ(declare({"x", "y", "x"}),
            "duplicate argument 'x' in function definition");
  EXPECT_EQ(declare({"a", "*a"}),
            "duplicate argument 'a' in function definition");
  EXPECT_THAT(declare({""}), HasSubstr("invalid syntax (''"));
  EXPECT_THAT(declare({"a b"}), HasSubstr("'a b' is no name"));
  EXPECT_THAT(declare({"class"}), HasSubstr("invalid syntax ('class'"));
  EXPECT_THAT(declare({"**"}), HasSubstr("invalid syntax"));
  EXPECT_EQ(declare({{"x", 1}, "y"}),
            "non-default argument follows default argument");
  EXPECT_EQ(declare({{"x", 1}, "*a", "y", "**k"}), "no error");
  try {
    symbolic_trace([](Value a, Value) -> Value { return a; }, {"a", "a"});
    FAIL();
  } catch (const SyntaxError& error) {
    EXPECT_EQ(error.context().source.line, __LINE__ - 3);
    EXPECT_THAT(error.what(), HasSubstr("misuse_test.cpp"));
  }
}

TEST(Misuse, PlaceholdersThatMakeNoFunctionAreRefused) {
  const auto gm = identity();
  const std::string before = gm->code();
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  graph->placeholder("x");
  graph->output(x);
  EXPECT_EQ(error_of<SyntaxError>([&] { gm->set_graph(std::move(graph)); }),
            "duplicate argument 'x' in function definition");
  EXPECT_EQ(gm->code(), before);
  gm->graph().inserting_before().keep();
  gm->graph().placeholder("self");
  gm->graph().placeholder("self");
  EXPECT_THROW(gm->recompile(), SyntaxError);
  EXPECT_EQ(gm->code(), before);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
