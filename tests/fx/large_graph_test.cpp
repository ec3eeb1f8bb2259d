// Graphs of a million nodes pass through every operation: nothing recurses
// along the graph and nothing is quadratic. No time is measured; a quadratic
// step would not end within the test's limit.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/archive.h"
#include "fxjit/fx/cpp_code.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/text.h"
#include "fxjit/fx/transformer.h"
#include "fxjit/nn.h"
#include "tests/fx/archive_testing.h"
#include "tests/support/sanitizers.h"

namespace fxjit::fx {
namespace TEST_FILE {

// Sanitizers cost ten times the time and memory.
constexpr int kNodes = fxjit::testing::kSanitizer ? 50'000 : 1'000'000;

void pass_through_everything(Graph& graph) {
  graph.lint();
  const size_t size = graph.size();
  const auto copy = graph.copy();
  EXPECT_EQ(copy->size(), size);
  EXPECT_EQ(copy->str().size(), graph.str().size());
  EXPECT_GT(graph.python_code().src.size(), size);
  EXPECT_EQ(parse_graph(text(graph))->size(), size);
  EXPECT_FALSE(copy->eliminate_dead_code());
  copy->output_node()->set_args({Value(copy->nodes().front())});
  EXPECT_TRUE(copy->eliminate_dead_code());
  EXPECT_EQ(copy->size(), copy->placeholders().size() + 1);
}

TEST(LargeGraph, Chain) {
  Graph graph;
  NodePtr x = graph.placeholder("x");
  const Target neg = ops::get_function("torch.neg");
  for (int i = 0; i < kNodes; ++i) x = graph.call_function(neg, {x});
  graph.output(x);
  pass_through_everything(graph);
}

TEST(LargeGraph, OneProducerWithManyUsers) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const Target neg = ops::get_function("torch.neg");
  ValueList results;
  for (int i = 0; i < kNodes; ++i)
    results.push_back(graph.call_function(neg, {x}));
  graph.output(Value::tuple(std::move(results)));
  EXPECT_EQ(x->replace_all_uses_with(y).size(), size_t{kNodes});
  EXPECT_EQ(y->replace_all_uses_with(x).size(), size_t{kNodes});
  // Remove and add users in the middle of the list.
  for (NodePtr user : x->users().list())
    if (user->id() % 2) user->set_arg(0, y);
  EXPECT_EQ(x->num_users() + y->num_users(), size_t{kNodes});
  y->replace_all_uses_with(x);
  pass_through_everything(graph);
}

TEST(LargeGraph, SavedLoadedAndWrittenAsCpp) {
  auto graph = std::make_unique<Graph>();
  NodePtr x = graph->placeholder("x");
  const Target neg = ops::get_function("torch.neg");
  for (int i = 0; i < kNodes; ++i) x = graph->call_function(neg, {x});
  graph->output(x);
  EXPECT_GT(cpp_code(*graph).size(), size_t{kNodes});
  const auto gm = GraphModule::create(nn::Module(), std::move(graph));
  const std::string path = testing_archive::folder() / "large.safetensors";
  save(*gm, path);
  const auto loaded = load(path);
  std::filesystem::remove(path);
  EXPECT_EQ(loaded->graph().size(), gm->graph().size());
  EXPECT_EQ(loaded->code(), gm->code());
}

TEST(LargeGraph, TracedRunAndRecompiled) {
  constexpr int kOps = kNodes / 5;
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        for (int i = 0; i < kOps; ++i) x = x + 1;
        return x;
      },
      {"x"}, "f");
  EXPECT_EQ(gm(Tensor::zeros({1})).as_tensor().item(), kOps);
  gm->graph().find_nodes(Opcode::call_function)[7]->set_arg(1, 11);
  gm->recompile();
  EXPECT_EQ(gm(Tensor::zeros({1})).as_tensor().item(), kOps + 10);
}

TEST(LargeGraph, TracedWideTransformedAndCopied) {
  constexpr int kOps = kNodes / 5;
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        ValueList results;
        for (int i = 0; i < kOps; ++i) results.push_back(x * i);
        return Value::list(std::move(results));
      },
      {"x"}, "f");
  int edits = 0;
  gm->register_replace_node_hook(
      [&](Node&, std::string_view, Node&) { ++edits; });
  const auto copy = gm->deep_copy();
  EXPECT_EQ(copy->graph().size(), size_t{kOps} + 2);
  const auto transformed = Transformer(gm).transform();
  EXPECT_EQ(transformed->graph().size(), size_t{kOps} + 2);
  EXPECT_EQ(transformed(Tensor::full({1}, 2)).at(7).as_tensor().item(), 14);
  const NodePtr x = copy->graph().placeholders()[0];
  const auto scope = copy->graph().inserting_after(x);
  const NodePtr neg = copy->graph().call_function("torch.neg", {x});
  x->replace_all_uses_with(neg, [&](NodePtr user) { return user != neg; });
  EXPECT_EQ(edits, kOps);
  copy->recompile();
  EXPECT_EQ(copy(Tensor::full({1}, 2)).at(7).as_tensor().item(), -14);
}

TEST(LargeGraph, ManyConstantsAndModules) {
  constexpr int kMany = kNodes / 50;
  const auto model = nn::Sequential::create();
  for (int i = 0; i < kMany; ++i) model->append(nn::ReLU::create());
  const auto gm = symbolic_trace(
      [&](Value x) -> Value {
        for (int i = 0; i < kMany; ++i) x = x + Tensor::full({1}, 1);
        return x;
      },
      {"x"}, "f");
  EXPECT_EQ(gm(Tensor::zeros({1})).as_tensor().item(), kMany);
  const auto layers = symbolic_trace(model);
  EXPECT_EQ(layers->graph().size(), size_t{kMany} + 2);
  layers->delete_all_unused_submodules();
  layers->recompile();
  EXPECT_EQ(layers(Tensor::full({1}, 3)).as_tensor().item(), 3);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
