// GraphTransformObserver: what it tells of a pass, and what it draws.
#include "fxjit/fx/passes/graph_transform_observer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "tests/fx/archive_testing.h"

namespace fxjit::fx::passes {
namespace TEST_FILE {

using Names = std::set<std::string>;

nn::Ref<GraphModule> model() {
  return symbolic_trace([](Value x) -> Value { return neg(relu(x)); }, {"x"});
}

void replace_relu(Graph& graph) {
  const NodePtr old_node = graph.find_node("relu");
  const InsertScope scope = graph.inserting_after(old_node);
  const NodePtr made = graph.call_function("torch.sigmoid", {old_node->arg(0)});
  old_node->replace_all_uses_with(made);
  graph.erase_node(old_node);
}

TEST(GraphTransformObserver, NamesAndOrigins) {
  const auto gm = model();
  GraphTransformObserver observer(*gm, "swap");
  observer.apply_graph_pass(replace_relu);
  EXPECT_EQ(observer.created_nodes(), Names{"sigmoid"});
  EXPECT_EQ(observer.erased_nodes(), Names{"relu"});
  const Value& origin =
      gm->graph().find_node("sigmoid")->meta().at("from_node");
  EXPECT_EQ(repr(origin), "[('relu', 'swap', 'replace+create')]");
  // The end of the pass is the end of observing.
  gm->graph().find_node("neg")->set_target(ops::get_function("torch.abs"));
  const InsertScope scope =
      gm->graph().inserting_before(gm->graph().output_node());
  gm->graph().call_function("torch.exp", {gm->graph().find_node("neg")});
  EXPECT_EQ(observer.created_nodes(), Names{"sigmoid"});
}

TEST(GraphTransformObserver, NodesThatWereThere) {
  const auto gm = model();
  GraphTransformObserver observer(*gm, "drop");
  observer.apply_gm_pass([](GraphModule& module) {
    Graph& graph = module.graph();
    graph.find_node("relu")->replace_all_uses_with(graph.find_node("x"));
    graph.eliminate_dead_code();
  });
  EXPECT_EQ(repr(gm->graph().find_node("x")->meta().at("from_node")),
            "[('relu', 'drop', 'replace')]");
  EXPECT_TRUE(observer.created_nodes().empty());
  EXPECT_EQ(observer.erased_nodes(), Names{"relu"});
}

TEST(GraphTransformObserver, Drawings) {
  const auto gm = model();
  const std::filesystem::path folder = testing_archive::folder();
  GraphTransformObserver observer(*gm, "swap", folder);
  observer.apply_graph_pass(replace_relu);
  auto text = [&](const std::string& kind) {
    const auto path =
        folder /
        ("pass_" +
         std::to_string(GraphTransformObserver::get_current_pass_count()) +
         "_swap_" + kind + "_graph.dot");
    std::ifstream file(path);
    std::stringstream all;
    all << file.rdbuf();
    std::filesystem::remove(path);
    return all.str();
  };
  const std::string input = text("input"), output = text("output");
  EXPECT_NE(input.find("relu [label="), input.npos);
  EXPECT_NE(input.find("fillcolor=yellow"), input.npos);
  EXPECT_NE(output.find("sigmoid [label="), output.npos);
  EXPECT_NE(output.find("fillcolor=grey"), output.npos);
}

TEST(GraphTransformObserver, PassesThatThrow) {
  const auto gm = model();
  {
    GraphTransformObserver observer(*gm, "broken");
    EXPECT_THROW(
        observer.apply_graph_pass([](Graph&) { throw ValueError("no"); }),
        ValueError);
  }
  replace_relu(gm->graph());  // No observer is left behind.
  EXPECT_EQ(gm->graph().find_node("sigmoid")->meta().find("from_node"),
            nullptr);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx::passes
