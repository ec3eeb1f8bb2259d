// Passes over graphs that write in place: nothing is lost, nothing is merged
// with what is written.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fx/passes.h"
#include "fxjit/nn.h"

namespace fxjit::fx {
namespace TEST_FILE {

using passes::CSEPass;
using passes::PassResult;

Tensor ones(const Dims& sizes) { return Tensor::full(sizes, 1); }

nn::Ref<GraphModule> over(std::unique_ptr<Graph> graph,
                          const nn::Module& root = nn::Module()) {
  return GraphModule::create(root, std::move(graph));
}

// Calls that follow each other, each module on tensors of its own.
void expect_same_calls(const nn::Ref<GraphModule>& got,
                       const nn::Ref<GraphModule>& expected) {
  for (int i = 0; i < 3; ++i) {
    const Value x = ones({2, 2}), y = ones({2, 2});
    const Value a = got->call({x}), b = expected->call({y});
    ASSERT_EQ(a.size(), b.size());
    for (size_t j = 0; j < a.size(); ++j)
      EXPECT_EQ(a.at(j).as_tensor().to_floats(),
                b.at(j).as_tensor().to_floats())
          << "call " << i << " result " << j;
    EXPECT_EQ(x.as_tensor().to_floats(), y.as_tensor().to_floats());
  }
}

// Equal calls, views of them, and a write into a view of a view.
std::unique_ptr<Graph> equal_calls() {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr a = graph->call_function("torch.exp", {x});
  const NodePtr b = graph->call_function("torch.exp", {x});
  const NodePtr row = graph->call_function("_operator.getitem", {a, 0});
  const NodePtr part =
      graph->call_function("_operator.getitem", {row, Value::slice(1, None)});
  graph->call_method("add_", {part, 5});
  const NodePtr c = graph->call_function("torch.neg", {x});
  const NodePtr d = graph->call_function("torch.neg", {x});
  graph->output(
      Value::tuple({a, b, graph->call_function("torch.add", {c, d})}));
  return graph;
}

TEST(Writes, EqualCallsThatAreWrittenAreNotMerged) {
  const auto gm = over(equal_calls());
  const PassResult result = CSEPass()(gm);
  EXPECT_TRUE(result.modified);  // neg
  EXPECT_EQ(result.graph_module->graph().nodes().size(),
            gm->graph().nodes().size() - 1);
  expect_same_calls(result.graph_module, gm);
}

TEST(Writes, NumbersOfDifferentSignsAreNotMerged) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  graph->output(Value::tuple({graph->call_function("torch.mul", {x, 0.0}),
                              graph->call_function("torch.mul", {x, -0.0})}));
  EXPECT_FALSE(CSEPass()(over(std::move(graph))).modified);
}

TEST(Writes, ThroughViewsAreNotDead) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr row = graph->call_function("_operator.getitem", {x, 0});
  const NodePtr flat = graph->call_method("view", {row, -1});
  graph->call_method("mul_", {flat, 3});
  graph->call_function("torch.neg", {x});
  graph->call_function(*find_callable("_operator.setitem"), {x, 1, 9});
  graph->output(Value::tuple({x}));
  const auto gm = over(std::move(graph)), kept = gm->deep_copy();
  EXPECT_TRUE(gm->graph().eliminate_dead_code());
  EXPECT_EQ(gm->graph().nodes().size(), kept->graph().nodes().size() - 1);
  gm->recompile();
  expect_same_calls(gm, kept);
}

TEST(Writes, InsideOfPartsAreNotDead) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr twice = graph->call_function("torch.mul", {x, 2});
  const NodePtr row = graph->call_function("_operator.getitem", {twice, 0});
  const NodePtr wrote = graph->call_method("add_", {row, 1});
  graph->output(Value::tuple({twice}));
  const auto gm = over(std::move(graph));
  const auto split = passes::split_module(
      *gm, [&](const Node& node) { return &node == wrote ? 1 : 0; });
  expect_same_calls(split, gm);
  split->graph().eliminate_dead_code();
  split->recompile();
  expect_same_calls(split, gm);
}

TEST(Writes, StatisticsAreNotDead) {
  struct Net : nn::Custom<Net> {
    Net() : Custom("Net", {"x"}) {
      norm = register_module("norm", nn::BatchNorm1d::create(2));
    }
    Value forward(Value x) {
      norm(x);
      return Value::tuple({x});
    }
    nn::Ref<nn::BatchNorm1d> norm;
  };
  const auto net = Net::create();
  const auto gm = symbolic_trace(net);
  EXPECT_FALSE(gm->graph().eliminate_dead_code());
  gm->call({ones({3, 2})});
  EXPECT_EQ(net->norm->num_batches_tracked.tensor().item(), 1);
  EXPECT_NEAR(net->norm->running_mean.tensor().to_floats()[0], 0.1, 1e-6);
  EXPECT_NEAR(net->norm->running_var.tensor().to_floats()[0], 0.9, 1e-6);
  net->eval();
  EXPECT_TRUE(symbolic_trace(net)->graph().eliminate_dead_code());
}

// Attributes written, and constants that are written after they were computed.
TEST(Writes, WhatIsWrittenIsNotFolded) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr w = graph->get_attr("w");
  const NodePtr v = graph->get_attr("v");
  const NodePtr sum = graph->call_function("torch.mul", {w, 2});
  graph->call_method("add_", {sum, x});
  const NodePtr before = graph->call_function("torch.exp", {v});
  const NodePtr row = graph->call_function("_operator.getitem", {v, 0});
  graph->call_method("add_", {row, 1});
  const NodePtr after = graph->call_function("torch.exp", {v});
  const NodePtr folded = graph->call_function("torch.exp", {w});
  graph->output(Value::tuple({sum, before, after, folded}));
  nn::Module root;
  root.register_buffer("w", ones({2, 2}));
  root.register_buffer("v", ones({2, 2}));
  const auto gm = over(std::move(graph), root);
  const auto kept = gm->deep_copy();
  const auto result = passes::split_const_subgraphs(*gm);
  EXPECT_TRUE(static_cast<bool>(result->const_subgraph_module()));
  expect_same_calls(result, kept);
}

TEST(Writes, SurviveReplacePattern) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr y = graph->call_function("torch.mul", {x, 2});
  const NodePtr row = graph->call_function("_operator.getitem", {y, 1});
  graph->call_method("add_", {row, 4});
  const NodePtr z = graph->call_function("torch.relu", {y});
  graph->output(Value::tuple({z, y}));
  const auto gm = over(std::move(graph)), kept = gm->deep_copy();
  EXPECT_EQ(replace_pattern(
                *gm, [](Value a) -> Value { return fxjit::relu(a); },
                [](Value a) -> Value { return fxjit::clamp_min(a, 0); })
                .size(),
            1u);
  expect_same_calls(gm, kept);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
