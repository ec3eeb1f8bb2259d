#include <gtest/gtest.h>

#include "fxjit/fx/graph.h"

namespace fxjit::fx {
namespace TEST_FILE {

// Candidates in order and the names that torch 2.13's namespace gives them.
TEST(Names, FollowTorch) {
  const std::pair<const char*, const char*> kCases[] = {
      {"_pad", "_pad"},         {"__add__", "add"},
      {"foo.bar", "foo_bar"},   {"PascalCase", "pascal_case"},
      {"ALL_CAPS", "all_caps"}, {"0abc", "_0abc"},
      {"a b", "a_b"},           {"", "_unnamed"},
      {"class", "class_1"},     {"list", "list_1"},
      {"inf", "inf_1"},         {"x_1", "x_1"},
      {"x_1", "x_2"},           {"x", "x_3"},
      {"x_1_1", "x_1_1"},       {"_", "_"},
      {"__", "_unnamed_1"},     {"_1", "_1"},
      {"__1", "__1"},           {"getattr", "getattr_1"},
      {"\xce\xbbx", "_x"},      {"a__3", "a__3"},
      {"torch", "torch_1"},     {"aaaaa", "aaaaa"},
  };
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  for (const auto& [target, name] : kCases)
    EXPECT_EQ(graph.call_method(target, {x})->name(), name) << "for " << target;
}

TEST(Names, FunctionsAreNamedAfterTheirLastPart) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  EXPECT_EQ(graph.call_function("torch.add", {x, x})->name(), "add");
  EXPECT_EQ(graph.call_function("_operator.add", {x, x})->name(), "add_1");
  EXPECT_EQ(graph.call_function("operator.and_", {x, x})->name(), "and_");
  EXPECT_EQ(graph.call_function("aten.add.Tensor", {x, x})->name(),
            "add_tensor");
  EXPECT_EQ(graph.call_module("layers.0.Linear", {x})->name(),
            "layers_0_linear");
  EXPECT_EQ(graph.placeholder("*args")->name(), "_args");
}

TEST(Names, ManualNamesStayUnique) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_method("neg", {x}, {}, "foo_1_1");
  const NodePtr b = graph.call_method("neg", {a}, {}, "foo_1");
  graph.output(b);
  EXPECT_EQ(a->name(), "foo_1_1");
  EXPECT_EQ(b->name(), "foo_1");
  const auto copy = graph.copy();
  std::vector<std::string_view> names;
  for (const Node* node : copy->nodes()) names.push_back(node->name());
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"x", "foo_1_1", "foo_1", "output"}));
}

TEST(Names, AreNotGivenBack) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.erase_node(graph.call_method("neg", {x}));
  EXPECT_EQ(graph.call_method("neg", {x})->name(), "neg_1");
}

TEST(Names, RenameKeepsUniqueness) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr neg = graph.call_method("neg", {x});
  neg->rename("x");
  EXPECT_EQ(neg->name(), "x_1");
  neg->rename("list");
  EXPECT_EQ(neg->name(), "list_1");
}

TEST(Names, ManyOfOneBase) {
  Graph graph;
  NodePtr x = graph.placeholder("x");
  for (int i = 0; i < 5000; ++i) x = graph.call_method("neg", {x});
  EXPECT_EQ(x->name(), "neg_4999");
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
