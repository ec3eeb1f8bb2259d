// Long chains and wide graphs through splitting, sorting, drawing, minimising
// and the other tools. No time is measured; a quadratic step would not end
// within the test's limit.
#include <gtest/gtest.h>

#include <algorithm>

#include "fxjit/functions.h"
#include "fxjit/fx/passes.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/nn.h"
#include "tests/fx/passes/chains.h"
#include "tests/support/sanitizers.h"

namespace fxjit::fx::passes {
namespace TEST_FILE {

constexpr int kNodes = fxjit::testing::kSanitizer ? 20'000 : 1'000'000;

// `count` times neg and relu of one input, all of which go into one call.
nn::Ref<GraphModule> wide(int count) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  ValueList results;
  for (int i = 0; i < count; ++i)
    results.push_back(
        graph->call_function(kRelu, {graph->call_function(kNeg, {x})}));
  graph->output(graph->call_function("torch.stack", {Value::list(results)}));
  return module_of(std::move(graph));
}

OperatorSupportRef supports(std::vector<Target> targets) {
  return create_op_support([targets](const nn::Module&, const Node& node) {
    return std::find(targets.begin(), targets.end(), node.target()) !=
           targets.end();
  });
}

TEST(LargeTools, SplitByTags) {
  for (const auto& gm : {chain(kNodes), wide(kNodes / 4)}) {
    const auto size = static_cast<int>(gm->graph().size());
    int position = 0;
    SplitByTagsOptions options;
    options.tag_of = [&](const Node&) {
      return std::string(1, static_cast<char>('a' + position++ * 5 / size));
    };
    const auto split = split_by_tags(*gm, {"a", "b", "c", "d", "e"}, options);
    EXPECT_EQ(split->children().size(), 5u);
  }
}

TEST(LargeTools, Sort) {
  for (const auto& gm : {chain(kNodes / 4), wide(kNodes / 8)}) {
    Graph& graph = gm->graph();
    const std::string before = graph.str();
    // The second half of the calls first.
    const std::vector<NodePtr> nodes = graph.nodes().list();
    for (size_t i = nodes.size() / 2; i + 1 < nodes.size(); ++i)
      nodes[0]->prepend(nodes[i]);
    EXPECT_THROW(graph.lint(), Error);
    stable_topological_sort(graph);
    graph.lint();
    legalize_graph(*gm);
    graph.lint();
    EXPECT_EQ(graph.str().size(), before.size());
  }
}

TEST(LargeTools, Splitter) {
  for (const auto& gm : {chain(kNodes / 20, kNodes / 200), wide(kNodes / 50)}) {
    SplitterBase splitter(gm, {Tensor::zeros({1})}, supports({kNeg}));
    EXPECT_LE(splitter()->graph().size(), 25u + kNodes / 20);
    EXPECT_GE(splitter.tags().size(), 2u);
  }
}

TEST(LargeTools, PartitionVertically) {
  for (const auto& gm : {chain(kNodes, kNodes / 20), wide(kNodes / 4)}) {
    const CapabilityBasedPartitioner partitioner(
        *gm, supports({kNeg}),
        {.allows_single_node_partition = true, .skip_horizontal_fusion = true});
    EXPECT_GE(partitioner.propose_partitions().size(), 10u);
  }
  const auto gm = wide(kNodes / 4);
  const CapabilityBasedPartitioner all(
      *gm, supports({kNeg, kRelu, ops::get_function("torch.stack")}),
      {.skip_horizontal_fusion = true});
  EXPECT_EQ(all.propose_partitions().size(), 1u);
}

TEST(LargeTools, FuseWhatOneCallReads) {
  const auto gm = wide(kNodes / 4);
  CapabilityBasedPartitioner partitioner(*gm, supports({kRelu}));
  partitioner.partition_and_fuse();
  EXPECT_EQ(gm->graph().find_nodes(Opcode::call_module).size(), 1u);
  gm->graph().lint();
}

TEST(LargeTools, FoldWhatOneCallReads) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr w = graph->get_attr("w");
  ValueList results = {x};
  for (int i = 0; i < kNodes / 10; ++i) {
    const NodePtr scaled = graph->call_function("operator.mul", {w, i});
    results.push_back(graph->call_function("operator.add", {x, scaled}));
  }
  graph->output(Value::tuple(std::move(results)));
  nn::Module root;
  root.set_attr("w", Tensor::zeros({1}));
  const auto gm = GraphModule::create(root, std::move(graph));
  const auto folded = split_const_subgraphs(*gm);
  EXPECT_EQ(folded->graph().size(), size_t{2 * (kNodes / 10)} + 3);
}

TEST(LargeTools, Sources) {
  const auto gm = chain(kNodes / 4);
  int position = 0;
  for (NodePtr node : gm->graph().find_nodes(Opcode::call_function))
    node->meta().set("torch_fn", Value::tuple({std::to_string(position++ / 3),
                                               "builtin.neg"}));
  const auto found = get_source_partitions(gm->graph(), {"neg"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].second.size(), size_t{(kNodes / 4 + 2) / 3});
}

TEST(LargeTools, MergeProducts) {
  constexpr int kProducts = kNodes / 20;
  const auto gm = merge_matmul(symbolic_trace(
      [](Value x, Value w) -> Value {
        ValueList results;
        for (int i = 0; i < kProducts; ++i) results.push_back(matmul(x, w));
        return Value::list(std::move(results));
      },
      {"x", "w"}));
  EXPECT_EQ(gm->graph().size(), size_t{kProducts} + 6);
}

TEST(LargeTools, NormalizeAndReplace) {
  const auto gm = chain(kNodes / 5);
  EXPECT_EQ(NormalizeArgs(gm).transform()->graph().size(), gm->graph().size());
  EXPECT_EQ(NormalizeOperators(gm).transform()->graph().size(),
            gm->graph().size());
  replace_target_nodes_with(*gm, Opcode::call_function, kNeg,
                            Opcode::call_method, "abs");
  EXPECT_EQ(gm->graph().find_nodes(Opcode::call_method).size(),
            size_t{kNodes / 10});
}

TEST(LargeTools, GroupsOfNumbers) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  NodePtr size = graph->call_method("size", {x, 0});
  std::vector<NodePtr> calls = {size};
  for (int i = 0; i < kNodes / 4; ++i)
    calls.push_back(size = graph->call_function("operator.add", {size, 1}));
  graph->output(size);
  const auto gm = module_of(std::move(graph));
  const NodeGroups groups = find_fusion_groups(*gm, calls);
  EXPECT_EQ(groups.at(size)->size(), calls.size());
}

TEST(LargeTools, DrawAndObserve) {
  const auto gm = chain(kNodes / 4);
  EXPECT_GT(FxGraphDrawer(*gm, "g").get_dot_graph().size(), size_t{kNodes});
  GraphTransformObserver observer(*gm, "swap");
  observer.apply_graph_pass([](Graph& graph) {
    for (NodePtr node : graph.find_nodes(Opcode::call_function, kNeg)) {
      const InsertScope scope = graph.inserting_before(node);
      const NodePtr made = graph.call_function("torch.abs", {node->arg(0)});
      node->replace_all_uses_with(made);
      graph.erase_node(node);
    }
  });
  EXPECT_EQ(observer.created_nodes().size(), size_t{kNodes / 8});
}

class Minimizer : public NetMinimizer {
 public:
  using NetMinimizer::NetMinimizer;
  Value run_a(GraphModule& part, const ValueList& inputs) override {
    return part.forward(inputs);
  }
  Value run_b(GraphModule& part, const ValueList& inputs) override {
    return part.forward(inputs);
  }
};

TEST(LargeTools, MinimizeNodeByNode) {
  for (const auto& gm : {chain(kNodes / 50), wide(kNodes / 100)}) {
    Minimizer minimizer(gm, {Tensor::zeros({1})}, all_close(0, 0));
    EXPECT_TRUE(minimizer.minimize().empty());
    EXPECT_EQ(minimizer.reports().size(),
              gm->graph().find_nodes(Opcode::call_function).size());
  }
}

TEST(LargeTools, LayersForInference) {
  constexpr int kLayers = kNodes / 500;
  const auto model = nn::Sequential::create();
  for (int i = 0; i < kLayers; ++i) {
    model->append(nn::Linear::create(2, 2));
    model->append(nn::BatchNorm1d::create(2));
    model->append(nn::Dropout::create(0.5));
  }
  model->eval();
  EXPECT_EQ(remove_dropout(fuse(model))->graph().size(), size_t{kLayers} + 2);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx::passes
