// Loop and Scan: interpreted, and compiled without parts that the interpreter
// runs.
#include <gmock/gmock.h>

#include "fxjit/error.h"
#include "tests/onnx/both_ways.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A loop with x carried, which adds the iteration's number to it, and collects
// the sums.
Message loop_body(const std::string& goes_on,
                  const std::vector<Message>& more = {}) {
  std::vector<Message> nodes = {
      node("Cast", {"i"}, {"n"}, {int_attribute("to", kFloat)}),
      node("Add", {"in", "n"}, {"out"}), node("Identity", {"out"}, {"row"})};
  nodes.insert(nodes.end(), more.begin(), more.end());
  return graph({std::move(nodes),
                {value_info("i", kInt64, {}), value_info("go", kBool, {}),
                 value_info("in", kFloat, {2})},
                {value_info(goes_on, kBool, {}), value_info("out", kFloat, {2}),
                 value_info("row", kFloat, {2})},
                {}});
}

Message looping(const Message& body, const std::string& count,
                const std::string& condition, const std::string& result,
                const std::vector<Message>& more_inputs = {}) {
  std::vector<Message> inputs = {value_info("x", kFloat, {2})};
  inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
  return model(
      graph({{node("Loop", {count, condition, "x"},
                   {"last", result == "rows" ? "rows" : ""},
                   {graph_attribute("body", body)})},
             inputs,
             {value_info(result, kFloat, {-1})},
             {int_tensor("thousand", {1000}), float_tensor("ten", {}, {10})}}));
}

TEST(OnnxLoop, ManyIterationsAreOneBodyAndGiveAStack) {
  const Both rows(looping(loop_body("go"), "thousand", "", "rows"));
  EXPECT_THAT(text_of(rows.interpreted), HasSubstr("higher_order.scan"));
  const std::vector<float> got = rows({list({0, 0.5})});
  ASSERT_EQ(got.size(), 2000u);
  for (int64_t i = 0; i < 1000; ++i) {
    const auto sum = static_cast<float>(i * (i + 1) / 2);
    EXPECT_EQ(got[static_cast<size_t>(2 * i)], sum);
    EXPECT_EQ(got[static_cast<size_t>(2 * i + 1)], sum + 0.5f);
  }
  EXPECT_TRUE(rows.native());
}

TEST(OnnxLoop, AnInputSaysHowManyIterations) {
  const Both both(looping(loop_body("go"), "count", "", "last",
                          {value_info("count", kInt64, {})}));
  EXPECT_THAT(text_of(both.interpreted), HasSubstr("higher_order.while_loop"));
  EXPECT_THAT(both({list({0, 1}), number(5)}), ElementsAre(10, 11));
  EXPECT_THAT(both({list({0, 1}), number(0)}), ElementsAre(0, 1));
}

// Goes on while the sum of the numbers is below ten.
Message bounded_body() {
  return loop_body("below", {node("ReduceSum", {"out"}, {"sum"},
                                  {int_attribute("keepdims", 0)}),
                             node("Less", {"sum", "ten"}, {"below"})});
}

TEST(OnnxLoop, TheBodyEndsALoopWhoseStackIsCut) {
  const Both both(looping(bounded_body(), "count", "", "rows",
                          {value_info("count", kInt64, {})}));
  EXPECT_THAT(both({list({0, 1}), number(100)}),
              ElementsAre(0, 1, 1, 2, 3, 4, 6, 7));
  EXPECT_THAT(both({list({0, 1}), number(2)}), ElementsAre(0, 1, 1, 2));
}

TEST(OnnxLoop, AConditionAloneEndsALoop) {
  const Both both(looping(bounded_body(), "", "go_on", "last",
                          {value_info("go_on", kBool, {})}));
  EXPECT_THAT(both({list({0, 1}), flag(true)}), ElementsAre(6, 7));
  EXPECT_THAT(both({list({0, 1}), flag(false)}), ElementsAre(0, 1));
}

// Appends x + i to a sequence; the tensors are put together behind the loop.
Message appending(const std::vector<Message>& insert_inputs,
                  const std::string& at, int64_t new_axis) {
  std::vector<std::string> inserted = {"seq", "item"};
  if (!at.empty()) inserted.push_back(at);
  const Message body =
      graph({{node("Cast", {"i"}, {"n"}, {int_attribute("to", kFloat)}),
              node("Add", {"x", "n"}, {"item"}),
              node("SequenceInsert", inserted, {"longer"})},
             {value_info("i", kInt64, {}), value_info("go", kBool, {}),
              Message().text(1, "seq")},
             {value_info("go", kBool, {}), Message().text(1, "longer")},
             {}});
  return model(graph({{node("SequenceEmpty", {}, {"none"}),
                       node("Loop", {"count", "", "none"}, {"all"},
                            {graph_attribute("body", body)}),
                       node("ConcatFromSequence", {"all"}, {"y"},
                            {int_attribute("axis", new_axis == 1 ? 1 : 0),
                             int_attribute("new_axis", new_axis)})},
                      insert_inputs,
                      {value_info("y", kFloat, {-1})},
                      {int_tensor("zero", {0})}}));
}

TEST(OnnxLoop, ASequenceThatGrowsIsAStack) {
  const std::vector<Message> inputs = {value_info("x", kFloat, {2}),
                                       value_info("count", kInt64, {})};
  const Both one(appending(inputs, "", 0));
  EXPECT_THAT(one({list({0, 5}), number(3)}), ElementsAre(0, 5, 1, 6, 2, 7));
  const Both stacked(appending(inputs, "", 1));
  EXPECT_THAT(stacked({list({0, 5}), number(3)}),
              ElementsAre(0, 1, 2, 5, 6, 7));
}

TEST(OnnxLoop, ASequenceThatGrowsInFrontIsRefused) {
  const std::string path = write_model(
      appending({value_info("x", kFloat, {2}), value_info("count", kInt64, {})},
                "zero", 0)
          .bytes());
  try {
    onnx::load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("node_SequenceInsert"));
    EXPECT_THAT(error.what(), HasSubstr("only appended to"));
  }
}

// What the body computes anew each time may begin as a placeholder of any
// shape.
TEST(OnnxLoop, ThePlaceholderOfAValueThatNobodyReadsHasAnyShape) {
  const Message body = graph(
      {{node("Add", {"in", "ten"}, {"out"}), node("Mul", {"out", "out"}, {"s"}),
        node("ReduceSum", {"s"}, {"sum"}, {int_attribute("keepdims", 0)}),
        node("Less", {"sum", "many"}, {"below"})},
       {value_info("i", kInt64, {}), value_info("go", kBool, {}),
        value_info("in", kFloat, {2}), value_info("unread", kFloat, {2})},
       {value_info("below", kBool, {}), value_info("out", kFloat, {2}),
        value_info("s", kFloat, {2})},
       {}});
  const Both both(model(
      graph({{node("Loop", {"", "true", "x", "nothing"}, {"last", "squares"},
                   {graph_attribute("body", body)})},
             {value_info("x", kFloat, {2})},
             {value_info("squares", kFloat, {2})},
             {float_tensor("ten", {}, {10}), float_tensor("many", {}, {2000}),
              float_tensor("nothing", {}, {0}),
              tensor("true", kBool, {}, std::string(1, '\1'))}})));
  // 10, 11; 20, 21; 30, 31, whose squares are 1861 together; 40, 41.
  EXPECT_THAT(both({list({0, 1})}), ElementsAre(1600, 1681));
  EXPECT_THAT(both({list({90, 90})}), ElementsAre(10000, 10000));
  EXPECT_TRUE(both.native());
}

TEST(OnnxLoop, CarriedValuesThatDouble) {
  const Message body = graph(
      {{node("Concat", {"in", "in"}, {"out"}, {int_attribute("axis", 0)})},
       {value_info("i", kInt64, {}), value_info("go", kBool, {}),
        value_info("in", kFloat, {2})},
       {value_info("go", kBool, {}), value_info("out", kFloat, {-1})},
       {}});
  const Both both(
      looping(body, "count", "", "last", {value_info("count", kInt64, {})}));
  EXPECT_THAT(both({list({3, 4}), number(0)}), ElementsAre(3, 4));
  EXPECT_THAT(both({list({3, 4}), number(2)}),
              ElementsAre(3, 4, 3, 4, 3, 4, 3, 4));
}

// The first thing that is wrong is told, not what comes of taking the body a
// thousand times.
TEST(OnnxLoop, ManyIterationsTellTheFirstErrorOfTheirBody) {
  const Message body = graph(
      {{node("Concat", {"in", "in"}, {"long"}, {int_attribute("axis", 0)}),
        node("Unsqueeze", {"long", "zero"}, {"out"})},
       {value_info("i", kInt64, {}), value_info("go", kBool, {}),
        value_info("in", kFloat, {2})},
       {value_info("go", kBool, {}), value_info("out", kFloat, {-1, -1})},
       {int_tensor("zero", {0})}});
  const std::string path =
      write_model(looping(body, "thousand", "", "last").bytes());
  try {
    onnx::load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("node_Loop"));
    EXPECT_THAT(error.what(), HasSubstr("carried value 0 becomes another"));
  }
}

TEST(OnnxLoop, CountsBelowOneAreNoIterations) {
  const Both last(looping(loop_body("go"), "count", "", "last",
                          {value_info("count", kInt64, {})}));
  const Both rows(looping(loop_body("go"), "count", "", "rows",
                          {value_info("count", kInt64, {})}));
  for (const int64_t count : {int64_t{0}, int64_t{-2}, INT64_MIN + 1024}) {
    EXPECT_THAT(last({list({0, 1}), number(count)}), ElementsAre(0, 1));
    EXPECT_THAT(rows({list({0, 1}), number(count)}), ::testing::IsEmpty());
  }
}

// As many iterations as another input has rows more than three.
TEST(OnnxLoop, SizesThatSayLessThanNoneAreNoIterations) {
  const auto counting = [](const std::string& result) {
    return model(
        graph({{node("Shape", {"z"}, {"rows_of_z"}),
                node("Sub", {"rows_of_z", "three"}, {"count"}),
                node("Loop", {"count", "", "x"},
                     {"last", result == "rows" ? "rows" : ""},
                     {graph_attribute("body", bounded_body())})},
               {value_info("x", kFloat, {2}), value_info("z", kFloat, {-1})},
               {value_info(result, kFloat, {-1})},
               {int_tensor("three", {3}), float_tensor("ten", {}, {10})}}));
  };
  const Both last(counting("last")), rows(counting("rows"));
  const ValueList fewer = {list({0, 1}), Tensor::zeros({1})};
  EXPECT_THAT(last(fewer), ElementsAre(0, 1));
  EXPECT_THAT(rows(fewer), ::testing::IsEmpty());
  const ValueList more = {list({0, 1}), Tensor::zeros({5})};
  EXPECT_THAT(last(more), ElementsAre(1, 2));
  EXPECT_THAT(rows(more), ElementsAre(0, 1, 1, 2));
}

TEST(OnnxLoop, StacksBeyondAllMemoryAreRefused) {
  const Both rows(looping(bounded_body(), "count", "", "rows",
                          {value_info("count", kInt64, {})}));
  for (const onnx::Program* program : {&rows.interpreted, &rows.compiled})
    EXPECT_THROW(program->run({list({0, 1}), number(int64_t{1} << 50)}), Error);
  EXPECT_THAT(rows({list({0, 1}), number(2)}), ElementsAre(0, 1, 1, 2));
}

// As many iterations as another input has rows.
TEST(OnnxLoop, SizesSayHowManyIterations) {
  const auto counting = [](const std::string& result) {
    return model(
        graph({{node("Shape", {"z"}, {"count"}),
                node("Loop", {"count", "", "x"},
                     {"last", result == "rows" ? "rows" : ""},
                     {graph_attribute("body", loop_body("go"))})},
               {value_info("x", kFloat, {2}), value_info("z", kFloat, {-1})},
               {value_info(result, kFloat, {-1})},
               {}}));
  };
  const Both last(counting("last")), rows(counting("rows"));
  EXPECT_THAT(last({list({0, 1}), Tensor::zeros({5})}), ElementsAre(10, 11));
  EXPECT_THAT(rows({list({0, 1}), Tensor::zeros({2})}),
              ElementsAre(0, 1, 1, 2));
  // Such loops are scans, which have at least one slice.
  for (const onnx::Program* program : {&last.interpreted, &last.compiled})
    EXPECT_THROW(program->run({list({0, 1}), Tensor::zeros({0})}),
                 RuntimeError);
}

// Sums along dim 1 from its end on, for each place; as many as the dim is long.
TEST(OnnxScan, GoesAlongAnyAxisInBothDirections) {
  const Message body = graph(
      {{node("Add", {"s", "a"}, {"out"}), node("Identity", {"out"}, {"row"})},
       {value_info("s", kFloat, {2}), value_info("a", kFloat, {2})},
       {value_info("out", kFloat, {2}), value_info("row", kFloat, {2})},
       {}});
  const Both both(model(
      graph({{node("Scan", {"s0", "x"}, {"last", "y"},
                   {graph_attribute("body", body),
                    int_attribute("num_scan_inputs", 1),
                    ints_attribute("scan_input_axes", {1}),
                    ints_attribute("scan_input_directions", {1}),
                    ints_attribute("scan_output_axes", {-1}),
                    ints_attribute("scan_output_directions", {1})})},
             {value_info("s0", kFloat, {2}), value_info("x", kFloat, {2, -1})},
             {value_info("y", kFloat, {2, -1})},
             {}})));
  EXPECT_THAT(text_of(both.interpreted), HasSubstr("higher_order.scan"));
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_THAT(both({list({0, 100}), x}), ElementsAre(6, 5, 3, 115, 111, 106));
  EXPECT_TRUE(both.native());
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
