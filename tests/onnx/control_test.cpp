// If whose condition data decide: interpreted, and compiled without parts that
// the interpreter runs.
#include <gmock/gmock.h>

#include "fxjit/error.h"
#include "tests/onnx/both_ways.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Message branch(std::vector<Message> nodes, const std::string& result) {
  return graph({std::move(nodes), {}, {value_info(result, kFloat, {-1})}, {}});
}

// c ? (x + 1) * w : x - w, where x + 1 and w are outside.
Message choosing(const std::vector<Message>& before,
                 const std::string& condition,
                 const std::vector<Message>& inputs) {
  std::vector<Message> nodes = before;
  nodes.push_back(node("Add", {"x", "one"}, {"more"}));
  nodes.push_back(
      node("If", {condition}, {"y"},
           {graph_attribute("then_branch",
                            branch({node("Mul", {"more", "w"}, {"t"})}, "t")),
            graph_attribute("else_branch",
                            branch({node("Sub", {"x", "w"}, {"e"})}, "e"))}));
  return model(
      graph({std::move(nodes),
             inputs,
             {value_info("y", kFloat, {-1})},
             {float_tensor("one", {1}, {1}), float_tensor("w", {2}, {10, 20}),
              int_tensor("three", {3})}}));
}

TEST(OnnxIf, DataChooseABranchThatSeesOuterValues) {
  const Both both(choosing(
      {}, "c", {value_info("c", kBool, {}), value_info("x", kFloat, {2})}));
  EXPECT_THAT(text_of(both.interpreted), HasSubstr("higher_order.cond"));
  EXPECT_THAT(both({flag(true), list({1, 2})}), ElementsAre(20, 60));
  EXPECT_THAT(both({flag(false), list({1, 2})}), ElementsAre(-9, -18));
  EXPECT_TRUE(both.native());
}

TEST(OnnxIf, SizesChooseForEachCall) {
  const Both both(choosing(
      {node("Shape", {"z"}, {"s"}), node("Equal", {"s", "three"}, {"c"})}, "c",
      {value_info("x", kFloat, {2}), value_info("z", kFloat, {-1})}));
  EXPECT_THAT(both({list({1, 2}), Tensor::zeros({3})}), ElementsAre(20, 60));
  EXPECT_THAT(both({list({1, 2}), Tensor::zeros({5})}), ElementsAre(-9, -18));
  EXPECT_TRUE(both.native());
}

TEST(OnnxIf, WhatTheFileDecidesIsNoBranch) {
  const Both both(choosing({node("Equal", {"three", "three"}, {"c"})}, "c",
                           {value_info("x", kFloat, {2})}));
  EXPECT_THAT(text_of(both.interpreted),
              ::testing::Not(HasSubstr("higher_order")));
  EXPECT_THAT(both({list({1, 2})}), ElementsAre(20, 60));
}

TEST(OnnxIf, ABranchThatCannotTakeTheSizesFailsOnlyWhenItIsTaken) {
  const Both both(model(graph(
      {{node("If", {"c"}, {"y"},
             {graph_attribute("then_branch",
                              branch({node("Add", {"x", "w"}, {"t"})}, "t")),
              graph_attribute("else_branch",
                              branch({node("Mul", {"x", "x"}, {"e"})}, "e"))})},
       {value_info("c", kBool, {}), value_info("x", kFloat, {-1})},
       {value_info("y", kFloat, {-1})},
       {float_tensor("w", {2}, {10, 20})}})));
  EXPECT_THAT(both({flag(true), list({1, 2})}), ElementsAre(11, 22));
  const ValueList three = {flag(false), list({1, 2, 3})};
  EXPECT_THAT(both(three), ElementsAre(1, 4, 9));
  EXPECT_TRUE(both.native());
  EXPECT_THROW(both.compiled.run({flag(true), list({1, 2, 3})}), Error);
}

TEST(OnnxIf, BranchesOfDifferentRankAreRefused) {
  const std::string path = write_model(
      model(graph({{node("If", {"c"}, {"y"},
                         {graph_attribute(
                              "then_branch",
                              branch({node("Identity", {"x"}, {"t"})}, "t")),
                          graph_attribute(
                              "else_branch",
                              branch({node("Unsqueeze", {"x", "at"}, {"e"})},
                                     "e"))})},
                   {value_info("c", kBool, {}), value_info("x", kFloat, {2})},
                   {value_info("y", kFloat, {-1})},
                   {int_tensor("at", {0})}}))
          .bytes());
  try {
    onnx::load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("node_If"));
    EXPECT_THAT(error.what(), HasSubstr("its branches give"));
  }
}

// Exporters give a flag as [] in one branch and as [1] in the other.
TEST(OnnxIf, OneElementHasTheDimsThatTheFileDeclares) {
  const auto branch_of = [](const Message& made, const std::string& name) {
    return graph({{made}, {}, {value_info(name, kFloat, {})}, {}});
  };
  const Both both(model(graph(
      {{node("ReduceSum", {"x"}, {"sum"}, {int_attribute("keepdims", 0)}),
        node("If", {"c"}, {"one"},
             {graph_attribute("then_branch",
                              branch_of(node("Add", {"sum", "ones"}, {"t"}),
                                        "t")),
              graph_attribute("else_branch",
                              branch_of(node("Neg", {"sum"}, {"e"}), "e"))}),
        node("Mul", {"one", "x"}, {"y"})},
       {value_info("c", kBool, {}), value_info("x", kFloat, {2})},
       {value_info("y", kFloat, {2})},
       {float_tensor("ones", {1}, {1})}})));
  EXPECT_THAT(both({flag(true), list({1, 2})}), ElementsAre(4, 8));
  EXPECT_THAT(both({flag(false), list({1, 2})}), ElementsAre(-3, -6));
  EXPECT_TRUE(both.native());
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
