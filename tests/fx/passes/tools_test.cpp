// The drawer and the minimiser.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/passes/graph_drawer.h"
#include "fxjit/fx/passes/net_minimizer.h"
#include "fxjit/fx/passes/shape_prop.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/nn.h"

namespace fxjit::fx::passes {
namespace TEST_FILE {

class Drawn : public nn::Custom<Drawn> {
 public:
  Drawn() : Custom("M", {"x", {"k", 2}}) {
    param = register_parameter("param", Tensor::zeros({3, 4}));
    linear = register_module("linear", nn::Linear::create(4, 5));
  }
  Value forward(Value x, Value) {
    Value y = method(linear(x + param), "clamp", {},
                     {{"min", 0.0}, {"max", 1.0}});
    Value z = getitem(method(cat({y, y}, 0), "view", {2, -1, 5}), 0) + 1;
    return Value::tuple({z, Value::dict({{"a", y}})});
  }
  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
};

// As torch's drawer and pydot 4 write it, but for the text of the layer's box.
TEST(FxGraphDrawer, DotText) {
  const auto gm = symbolic_trace(Drawn::create());
  const std::string text = FxGraphDrawer(*gm, "my_graph").get_dot_graph();
  const std::string style =
      R"(, style="filled,rounded", fontcolor="#000000"];)" "\n";
  EXPECT_TRUE(text.starts_with("digraph my_graph {\nrankdir=TB;\n"));
  for (const std::string line : {
           R"(k [label="{name=%k|op_code=placeholder\n|target=k\n|args=(2,)|num_users=0\n}", shape=record, fillcolor="AliceBlue")",
           R"(param [label="{name=%param|op_code=get_attr\n|target=param\n|num_users=1\n}", shape=record, fillcolor=LightGrey)",
           R"(add [label="{name=%add|op_code=call_function\n|target=_operator.add\n|num_users=1\n}", shape=record, fillcolor=Wheat1)",
           R"(clamp [label="{name=%clamp|op_code=call_method\n|target=clamp\n|kwargs=\{\lmin: 0.0,\nmax: 1.0,\n\}\l|num_users=2\n}", shape=record, fillcolor=Khaki1)",
           R"(cat [label="{name=%cat|op_code=call_function\n|target=torch.cat\n|args=(0,)|num_users=1\n}", shape=record, fillcolor=CadetBlue1)",
           R"(view [label="{name=%view|op_code=call_method\n|target=view\n|args=(\l2,\n-1,\n5,\n)\l|num_users=1\n}", shape=record, fillcolor=DarkOliveGreen1)",
           R"(getitem [label="{name=%getitem|op_code=call_function\n|target=_operator.getitem\n|args=(0,)|num_users=1\n}", shape=record, fillcolor=LavenderBlush1)",
           R"(output [label="{name=%output|op_code=output\n|target=output\n|num_users=0\n}", shape=record, fillcolor=PowderBlue)",
       })
    EXPECT_NE(text.find("\n" + line + style), text.npos) << line << "\n" << text;
  EXPECT_NE(
      text.find(
          R"("linear.weight" [label="{linear.weight|op_code=get_parametertorch.float32[5, 4]\n}", fillcolor=Salmon, style="filled,rounded", fontcolor="#000000", shape=record];)"
          "\n\"linear.weight\" -> linear;\n"),
      text.npos)
      << text;
  EXPECT_TRUE(text.ends_with(
      "x -> add;\nparam -> add;\nadd -> linear;\nlinear -> clamp;\nclamp -> "
      "cat;\nclamp -> output;\ncat -> view;\nview -> getitem;\ngetitem -> "
      "add_1;\nadd_1 -> output;\n}\n"))
      << text;
}

TEST(FxGraphDrawer, ShapesAndOptions) {
  const auto gm = symbolic_trace(Drawn::create());
  ShapeProp(*gm).propagate({Tensor::zeros({3, 4})});
  DrawerOptions options;
  options.ignore_getattr = true;
  options.ignore_parameters_and_buffers = true;
  options.skip_node_names_in_args = false;
  const std::string text = FxGraphDrawer(*gm, "g 2", options).get_dot_graph();
  EXPECT_TRUE(text.starts_with("digraph \"g 2\" {\n"));
  EXPECT_EQ(text.find("Salmon"), text.npos);
  EXPECT_EQ(text.find("LightGrey"), text.npos);
  EXPECT_NE(
      text.find(
          R"(|args=(\l[%clamp, %clamp],\n0,\n)\l|num_users=1\n|dtype=torch.float32\n|shape=(6, 5)\n|requires_grad=False\n|stride=(5, 1)\n}")"),
      text.npos)
      << text;
  EXPECT_NE(text.find(R"(|args=((%add_1, \{a: %clamp\}),)|num_users=0\n)"),
            text.npos)
      << text;
}

TEST(FxGraphDrawer, Submodules) {
  auto inner = symbolic_trace([](Value x) -> Value { return neg(x); }, {"x"});
  auto graph = std::make_unique<Graph>();
  graph->output(graph->call_module("sub", {graph->placeholder("x")}));
  const GraphModule outer(
      nn::AttributeMap{{"sub", nn::ModuleRef(inner)}}, std::move(graph));
  const FxGraphDrawer drawer(outer, "g");
  EXPECT_EQ(drawer.get_all_dot_graphs().size(), 2u);
  EXPECT_NE(drawer.get_dot_graph("sub").find("torch.neg"), std::string::npos);
  EXPECT_THROW(drawer.get_dot_graph("absent"), KeyError);
}

// `b` computes torch.sigmoid wrongly, and cannot run torch.exp.
class Minimizer : public NetMinimizer {
 public:
  using NetMinimizer::NetMinimizer;
  Value run_a(GraphModule& part, const ValueList& inputs) override {
    largest = std::max(largest, part.graph().size());
    return part.forward(inputs);
  }
  Value run_b(GraphModule& part, const ValueList& inputs) override {
    const auto broken = part.copy();
    for (NodePtr node : broken->graph().nodes()) {
      if (node->target_name() == "torch.exp") throw RuntimeError("no exp");
      if (node->target_name() == "torch.sigmoid")
        node->set_target(ops::get_function("torch.tanh"));
    }
    broken->recompile();
    return broken->forward(inputs);
  }
  size_t largest = 0;
};

// Calls that keep differences, with a call of `wrong` at each of `places`.
nn::Ref<GraphModule> chain(int count, std::vector<int> places,
                           const char* wrong = "torch.sigmoid") {
  constexpr const char* kNames[] = {"torch.neg", "torch.reciprocal",
                                      "torch.neg"};
  auto graph = std::make_unique<Graph>();
  NodePtr x = graph->placeholder("x");
  for (int i = 0; i < count; ++i) {
    const bool here = std::find(places.begin(), places.end(), i) != places.end();
    x = graph->call_function(here ? wrong : kNames[i % 3], {x});
  }
  graph->output(x);
  return GraphModule::create(nn::Module(), std::move(graph));
}

std::vector<std::string> culprits(const nn::Ref<GraphModule>& gm,
                                  const MinimizerOptions& options) {
  Minimizer minimizer(gm, {Tensor::full({2}, 0.5)}, all_close(1e-5, 1e-6),
                      options);
  std::vector<std::string> names;
  for (const Node* node : minimizer.minimize())
    names.emplace_back(node->name());
  EXPECT_FALSE(minimizer.reports().empty());
  return names;
}

using Names = std::vector<std::string>;

TEST(NetMinimizer, FindsTheNodeThatDiffers) {
  for (const auto method :
       {TraverseMethod::sequential, TraverseMethod::binary,
        TraverseMethod::accumulate, TraverseMethod::block}) {
    EXPECT_EQ(culprits(chain(20, {13}), {.traverse_method = method}),
              Names{"sigmoid"});
    EXPECT_EQ(culprits(chain(20, {13}, "torch.exp"),
                       {.traverse_method = method}),
              Names{"exp"});
    EXPECT_EQ(culprits(chain(20, {}), {.traverse_method = method}), Names{});
  }
}

TEST(NetMinimizer, FindsAll) {
  for (const auto method :
       {TraverseMethod::sequential, TraverseMethod::binary})
    EXPECT_EQ(culprits(chain(20, {3, 13}),
                       {.traverse_method = method, .find_all = true}),
              (Names{"sigmoid", "sigmoid_1"}));
  EXPECT_EQ(culprits(chain(20, {3, 13}),
                     {.traverse_method = TraverseMethod::binary}),
            Names{"sigmoid"});
}

TEST(NetMinimizer, BinarySearchOfALargeGraph) {
  constexpr int kNodes = 20'000;
  Minimizer minimizer(chain(kNodes, {12'345}), {Tensor::full({2}, 0.5)},
                      all_close(1e-5, 1e-6),
                      {.traverse_method = TraverseMethod::binary});
  const auto found = minimizer.minimize();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->name(), "sigmoid");
  EXPECT_LT(minimizer.reports().size(), 40u);
}

TEST(NetMinimizer, RangesAndErrors) {
  const auto gm = chain(20, {13});
  Minimizer minimizer(gm, {Tensor::full({2}, 0.5)}, all_close(1e-5, 1e-6));
  EXPECT_TRUE(minimizer.minimize("", "reciprocal_3").empty());
  EXPECT_EQ(minimizer.run_nodes("neg", "reciprocal_1"), "");
  EXPECT_NE(minimizer.run_nodes().find("Result mismatch for"),
            std::string::npos);
  EXPECT_THROW(NetMinimizer(gm, {}, all_close(0, 0)), AssertionError);
  NetMinimizer bare(gm, {Tensor::full({2}, 0.5)}, all_close(0, 0));
  EXPECT_EQ(bare.minimize().size(), 1u);
  EXPECT_NE(bare.reports()[0].back().find("Found culprit"), std::string::npos);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx::passes
