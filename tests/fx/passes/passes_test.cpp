// Passes on graphs of a million nodes, their refusals, and what they must not
// merge, fold or run.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/passes/const_fold.h"
#include "fxjit/fx/passes/cse_pass.h"
#include "fxjit/fx/passes/fuser_utils.h"
#include "fxjit/fx/passes/partitioner.h"
#include "fxjit/fx/passes/pass_manager.h"
#include "fxjit/fx/passes/shape_prop.h"
#include "fxjit/fx/passes/split_module.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/wrap.h"
#include "fxjit/nn.h"
#include "tests/fx/passes/chains.h"
#include "tests/support/sanitizers.h"

namespace fxjit::fx::passes {
namespace TEST_FILE {

constexpr int kNodes = fxjit::testing::kSanitizer ? 30'000 : 1'000'000;

OperatorSupportRef supports(const Target& target) {
  return create_op_support([target](const nn::Module&, const Node& node) {
    return node.target() == target;
  });
}

TEST(LargePasses, SplitChain) {
  const auto gm = chain(kNodes, 1000);
  int64_t position = 0;
  const auto split = split_module(
      *gm, [&](const Node&) { return position++ / (kNodes / 10); });
  EXPECT_EQ(split->graph().size(), 12u);
}

TEST(LargePasses, PartitionChain) {
  const auto gm = chain(kNodes, kNodes / 20);
  CapabilityBasedPartitioner partitioner(*gm, supports(kNeg));
  EXPECT_EQ(partitioner.propose_partitions().size(), 10u);
  partitioner.partition_and_fuse();
  EXPECT_EQ(gm->graph().size(), size_t{kNodes / 2 + 12});
}

TEST(LargePasses, PartitionWideGraph) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  ValueList results;
  for (int i = 0; i < kNodes / 2; ++i) {
    const NodePtr a = graph->call_function(kNeg, {x});
    results.push_back(graph->call_function(kRelu, {a}));
  }
  graph->output(graph->call_function("torch.stack", {Value::list(results)}));
  const auto gm = module_of(std::move(graph));
  CapabilityBasedPartitioner partitioner(*gm, supports(kNeg));
  const auto partitions = partitioner.propose_partitions();
  ASSERT_EQ(partitions.size(), 1u);
  EXPECT_EQ(partitions[0].nodes.size(), size_t{kNodes / 2});
}

TEST(LargePasses, MergeEqualCalls) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  ValueList results;
  for (int i = 0; i < kNodes; ++i)
    results.push_back(graph->call_function(i % 2 ? kNeg : kRelu, {x}));
  graph->output(graph->call_function("torch.stack", {Value::list(results)}));
  const PassResult result = CSEPass()(module_of(std::move(graph)));
  EXPECT_TRUE(result.modified);
  EXPECT_EQ(result.graph_module->graph().size(), 5u);
}

TEST(LargePasses, FoldConstantChain) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  NodePtr w = graph->get_attr("w");
  for (int i = 0; i < kNodes; ++i) w = graph->call_function(kNeg, {w});
  graph->output(graph->call_function("operator.add", {x, w}));
  nn::Module root;
  root.set_attr("w", Tensor::zeros({1}));
  const auto gm = GraphModule::create(root, std::move(graph));
  EXPECT_EQ(split_const_subgraphs(*gm)->graph().size(), 4u);
}

TEST(LargePasses, FakeShapes) {
  const auto gm = chain(kNodes / 4, 1);
  FakeTensorProp(*gm).propagate({Tensor::meta({2, 3}, DType::f32)});
  EXPECT_EQ(gm->graph().output_node()->val_tensor().sizes(), Dims({2, 3}));
}

TEST(FakeTensorProp, ShapesWithoutData) {
  class M : public nn::Custom<M> {
   public:
    M() : Custom("M", {"x"}) {
      linear = register_module("linear", nn::Linear::create(4, 5));
      scale = register_parameter("scale", Tensor::zeros({5}));
    }
    Value forward(Value x) {
      Value y = linear(x) * scale;
      return Value::tuple({y, method(y, "sum"), method(y, "size", {0})});
    }
    nn::Ref<nn::Linear> linear;
    nn::Parameter scale;
  };
  const auto traced = symbolic_trace(M::create());
  const Value result =
      FakeTensorProp(*traced).propagate({Tensor::meta({7, 4}, DType::f32)});
  EXPECT_TRUE(result.at(0).as_tensor().is_meta());
  EXPECT_EQ(result.at(0).as_tensor().sizes(), Dims({7, 5}));
  EXPECT_EQ(result.at(1).as_tensor().dim(), 0);
  EXPECT_EQ(result.at(2).as_int(), 7);
  EXPECT_EQ(traced->graph().find_node("scale")->val_tensor().sizes(),
            Dims({5}));
}

TEST(ShapeProp, NamesTheNodeThatFails) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return matmul(relu(x), x); }, {"x"});
  for (const bool fake : {false, true}) {
    try {
      ShapeProp(*gm, fake).propagate({Tensor::zeros({2, 3})});
      ADD_FAILURE() << "expected an error";
    } catch (const RuntimeError& error) {
      EXPECT_TRUE(
          error.message().starts_with("ShapeProp error for: node=%matmul"))
          << error.message();
    }
    EXPECT_NE(tensor_meta(*gm->graph().find_node("relu")), nullptr);
  }
}

size_t merged_size(const nn::Ref<GraphModule>& gm) {
  return CSEPass()(gm).graph_module->graph().size();
}

TEST(CSEPass, KeepsRandomCalls) {
  const Wrapped noise = wrap(
      "cse_noise", [](Value x) -> Value { return x; }, ops::Purity::random);
  EXPECT_EQ(merged_size(symbolic_trace(
                [&](Value x) -> Value { return noise(x) + noise(x); }, {"x"})),
            5u);
}

TEST(CSEPass, KeepsReadsAroundWrites) {
  EXPECT_EQ(merged_size(symbolic_trace(
                [](Value x) -> Value {
                  Value before = relu(x);
                  Value written = method(x, "add_", {1});
                  Value after = relu(x);
                  return before + after + written;
                },
                {"x"})),
            7u);
}

TEST(CSEPass, TellsTypesOfNumbersApart) {
  EXPECT_EQ(
      merged_size(symbolic_trace(
          [](Value x) -> Value { return add(x, 1) + add(x, 1.0); }, {"x"})),
      5u);
}

TEST(FuseByPartitions, RefusesCirclesBetweenPartitions) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a1 = neg(x);
        Value b1 = relu(a1);
        Value b2 = relu(y);
        Value a2 = neg(b2);
        return b1 + a2;
      },
      {"x", "y"});
  const std::string before = gm->graph().str();
  auto node = [&](const char* name) { return gm->graph().find_node(name); };
  // Each alone is fine.
  EXPECT_TRUE(
      validate_partition(std::vector<NodePtr>{node("neg"), node("neg_1")}));
  EXPECT_THROW(fuse_by_partitions(*gm, {{node("neg"), node("neg_1")},
                                        {node("relu"), node("relu_1")}}),
               AssertionError);
  EXPECT_THROW(fuse_by_partitions(*gm, {{node("neg")}, {node("neg")}}),
               AssertionError);
  const auto other = gm->copy();
  EXPECT_THROW(fuse_by_partitions(*gm, {{other->graph().find_node("neg")}}),
               AssertionError);
  EXPECT_EQ(gm->graph().str(), before);
}

// torch makes a graph without its input or its output of these.
TEST(FuseByPartitions, LeavesInputsAndOutputAlone) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return neg(relu(x) + y); }, {"x", "y"});
  const std::string before = gm->graph().str();
  for (NodePtr node : {gm->graph().nodes().front(), gm->graph().output_node()})
    EXPECT_THROW(
        fuse_by_partitions(*gm, {{node, gm->graph().find_node("relu")}}),
        AssertionError);
  EXPECT_EQ(gm->graph().str(), before);
  CapabilityBasedPartitioner partitioner(
      *gm, std::make_shared<OperatorSupport>(
               SupportDict{{"torch.relu", std::nullopt},
                           {"torch.neg", std::nullopt},
                           {"_operator.add", std::nullopt}}));
  partitioner.partition_and_fuse();
  EXPECT_EQ(gm->graph().size(), 4u);
  EXPECT_EQ(
      gm->call({Tensor::full({1}, 2), Tensor::full({1}, 3)}).as_tensor().item(),
      -5);
}

TEST(StableTopologicalSort, MovesOnlyWhatMustMove) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_function(kNeg, {x});
  const NodePtr b = graph.call_function(kRelu, {x});
  graph.output(b);
  a->set_args({b});
  stable_topological_sort(graph);
  graph.lint();
  EXPECT_EQ(b->next(), a);
  b->set_args({a});
  EXPECT_THROW(stable_topological_sort(graph), AssertionError);
  EXPECT_EQ(b->next(), a);
}

TEST(ConstFold, ThreadsAndNames) {
  nn::Module root;
  root.set_attr("w", Tensor::full({1}, 2.0));
  root.set_attr("_FX_CONST_FOLDED_ATTRS", 1);
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr taken = graph->get_attr("_FX_CONST_FOLDED_ATTRS");
  const NodePtr w = graph->get_attr("w");
  const NodePtr sum = graph->call_function("operator.add", {w, taken});
  graph->output(graph->call_function("operator.mul", {x, sum}));
  const auto gm = GraphModule::create(root, std::move(graph));
  const auto folded = split_const_subgraphs(*gm);
  EXPECT_EQ(folded->folded_attrs_name(), "_FX_CONST_FOLDED_ATTRS_1");
  EXPECT_EQ((*folded).call({Tensor::full({1}, 5.0)}).as_tensor().item(), 15.0);
  EXPECT_THROW(folded->run_folding(), AssertionError);
}

PassResult no_change(const GraphModuleRef& gm) { return {gm, false}; }

TEST(PassManager, Constraints) {
  const Pass a("a", no_change), b("b", no_change), c("c", no_change);
  PassManager manager({b, a});
  manager.add_constraint(this_before_that_pass_constraint(a, b));
  try {
    manager.validate_constraints();
    ADD_FAILURE() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "pass schedule constraint violated. Expected b before a but "
              "found b at index 0 and a at index 0 in pass list.");
  }
  manager.solve_constraints();
  EXPECT_EQ(manager.passes()[0], a);
  manager.validate_constraints();
  manager.add_constraint(this_before_that_pass_constraint(b, a));
  EXPECT_THROW(manager.solve_constraints(), RuntimeError);

  PassManager loops({loop_pass(b, 3), loop_pass(a, 5), c});
  loops.add_constraint(these_before_those_pass_constraint(a, b));
  EXPECT_THROW(loops.validate_constraints(), RuntimeError);
  loops.remove_pass({"b"});
  loops.validate_constraints();
  EXPECT_THROW(loop_pass(a, std::nullopt), AssertionError);
  EXPECT_THROW(loop_pass(a, 0), RuntimeError);
}

TEST(PassManager, StepsChecksAndErrors) {
  int left = 3, checks = 0;
  const Pass countdown("countdown", [&](const GraphModuleRef& gm) {
    return PassResult{gm, left-- > 0};
  });
  PassManager manager({countdown}, {},
                      {.steps = 10, .run_checks_after_each_pass = true});
  manager.add_checks([&](const nn::Module&) { ++checks; });
  const auto gm = chain(3, 1);
  EXPECT_TRUE(manager(gm).modified);
  EXPECT_EQ(left, -1);
  EXPECT_EQ(checks, 5);

  const Pass broken =
      pass_result_wrapper("broken", [](const GraphModuleRef& m) {
        const NodePtr node = m->graph().find_node("neg");
        node->set_args({m->graph().find_node("relu")});
      });
  PassManager failing({countdown, broken});
  try {
    failing(gm);
    ADD_FAILURE() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_TRUE(error.message().starts_with(
        "An error occurred when running the 'broken' pass after the following "
        "passes: ['countdown']"))
        << error.message();
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx::passes
