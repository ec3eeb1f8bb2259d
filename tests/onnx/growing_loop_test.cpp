// Loops that change the sizes of what they carry, or cut it by numbers of the
// data: interpreted, and compiled without parts that the interpreter runs.
#include <gmock/gmock.h>

#include <thread>

#include "fxjit/error.h"
#include "tests/onnx/both_ways.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

using ::testing::HasSubstr;

constexpr auto kAxis = [](int64_t axis) { return int_attribute("axis", axis); };

// all = Concat(all, item) along dim 1, item = x + i, `more` behind that.
Message growing_body(const std::vector<Message>& more,
                     const std::string& condition) {
  std::vector<Message> nodes = {
      node("Cast", {"i"}, {"n"}, {int_attribute("to", kFloat)}),
      node("Add", {"x", "n"}, {"item"}),
      node("Concat", {"all", "item"}, {"longer"}, {kAxis(-1)})};
  nodes.insert(nodes.end(), more.begin(), more.end());
  return graph({nodes,
                {value_info("i", kInt64, {}), value_info("go", kBool, {}),
                 value_info("all", kFloat, {2, -1})},
                {value_info(condition, kBool, {}),
                 value_info("longer", kFloat, {2, -1})},
                {}});
}

Message growing_model(const Message& body, const std::string& count,
                      const std::string& first) {
  return model(
      graph({{node("Loop", {count, "", first}, {"y"},
                   {graph_attribute("body", body)})},
             {value_info("x", kFloat, {2, 1}), value_info("count", kInt64, {}),
              value_info("begin", kFloat, {2, -1})},
             {value_info("y", kFloat, {2, -1})},
             {int_tensor("thousand", {1000}), float_tensor("most", {}, {12}),
              float_tensor("none", {2, 0}, {}),
              float_tensor("one", {2, 1}, {5, 6})}}));
}

// Two rows: `begin` and then x + i for each iteration.
std::vector<float> grown(const std::vector<float>& x,
                         const std::vector<std::vector<float>>& begin,
                         int64_t count) {
  std::vector<float> rows;
  for (size_t row = 0; row < 2; ++row) {
    rows.insert(rows.end(), begin[row].begin(), begin[row].end());
    for (int64_t i = 0; i < count; ++i)
      rows.push_back(x[row] + static_cast<float>(i));
  }
  return rows;
}

const Tensor kX = Tensor::from(std::vector<float>{0.5f, 2}, {2, 1});
const Tensor kBegin =
    Tensor::from(std::vector<float>{7, 8, 9, 1, 2, 3}, {2, 3});
const std::vector<std::vector<float>> kBeginRows = {{7, 8, 9}, {1, 2, 3}};

TEST(OnnxGrowingLoop, WhatIsOnlyAppendedToIsAStack) {
  const Both known(growing_model(growing_body({}, "go"), "thousand", "one"));
  EXPECT_EQ(known({kX, number(0), kBegin}), grown({0.5f, 2}, {{5}, {6}}, 1000));
  EXPECT_TRUE(known.native());
  EXPECT_THAT(text_of(known.interpreted), HasSubstr("map"));
  const Both counted(growing_model(growing_body({}, "go"), "count", "begin"));
  for (const int64_t count : {0, 1, 5, 30})
    EXPECT_EQ(counted({kX, number(count), kBegin}),
              grown({0.5f, 2}, kBeginRows, count));
  EXPECT_THAT(text_of(counted.interpreted),
              HasSubstr("higher_order.while_loop"));
  const Both empty(growing_model(growing_body({}, "go"), "count", "none"));
  for (const int64_t count : {0, 4})
    EXPECT_EQ(empty({kX, number(count), kBegin}),
              grown({0.5f, 2}, {{}, {}}, count));
}

// The next item depends on all before: their sum along dim 1.
TEST(OnnxGrowingLoop, WhatIsReadAsWell) {
  const Message body = graph(
      {{node("ReduceSum", {"all"}, {"sum"}, {int_attribute("keepdims", 0)}),
        node("Add", {"x", "sum"}, {"item"}),
        node("Concat", {"all", "item"}, {"longer"}, {kAxis(1)}),
        node("ReduceSum", {"longer"}, {"total"},
             {int_attribute("keepdims", 0)}),
        node("Less", {"total", "limit"}, {"below"})},
       {value_info("i", kInt64, {}), value_info("go", kBool, {}),
        value_info("all", kFloat, {2, -1})},
       {value_info("below", kBool, {}), value_info("longer", kFloat, {2, -1})},
       {float_tensor("limit", {}, {4000})}});
  for (const char* first : {"begin", "none", "one"}) {
    const Both both(growing_model(body, "count", first));
    for (const int64_t count : {0, 1, 6, 100}) {
      std::vector<std::vector<float>> rows =
          *first == 'b'   ? kBeginRows
          : *first == 'n' ? std::vector<std::vector<float>>{{}, {}}
                          : std::vector<std::vector<float>>{{5}, {6}};
      const auto total = [&] {
        float sum = 0;
        for (const std::vector<float>& row : rows)
          for (const float one : row) sum += one;
        return sum;
      };
      bool goes_on = true;
      for (int64_t i = 0; i < count && goes_on; ++i) {
        const float sum = total();
        rows[0].push_back(0.5f + sum);
        rows[1].push_back(2 + sum);
        goes_on = total() < 4000;
      }
      std::vector<float> expected = rows[0];
      expected.insert(expected.end(), rows[1].begin(), rows[1].end());
      EXPECT_EQ(both({kX, number(count), kBegin}), expected)
          << first << ", " << count;
    }
    // Sums of no elements are an eager step.
    if (*first != 'n')
      EXPECT_TRUE(both.native()) << make_report(*both.compiled.module).text();
  }
}

TEST(OnnxGrowingLoop, AnotherRankIsRefused) {
  const Message body =
      graph({{node("Unsqueeze", {"all", "zero"}, {"more"})},
             {value_info("i", kInt64, {}), value_info("go", kBool, {}),
              value_info("all", kFloat, {2, -1})},
             {value_info("go", kBool, {}), Message().text(1, "more")},
             {int_tensor("zero", {0})}});
  try {
    onnx::load(write_model(growing_model(body, "count", "begin").bytes()));
    ADD_FAILURE() << "it was read";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("carried value 0 becomes another"));
  }
}

constexpr int64_t kLines = 6;

Message lines_info(std::string_view name) {
  return value_info(name, kFloat, {-1, 2});
}

// Puts x * (i + 1) in the place of line i: what is before it, the line, and
// what is behind it, put together.
Message replacing_body() {
  return graph(
      {{node("Unsqueeze", {"i", "zero"}, {"at"}),
        node("Add", {"at", "one"}, {"next"}),
        node("Cast", {"next"}, {"factor"}, {int_attribute("to", kFloat)}),
        node("Mul", {"x", "factor"}, {"line"}),
        node("Slice", {"lines", "zero", "at", "zero"}, {"before"}),
        node("Slice", {"lines", "next", "most", "zero"}, {"behind"}),
        node("Concat", {"before", "line", "behind"}, {"lines_out"},
             {int_attribute("axis", 0)})},
       {value_info("i", kInt64, {}), value_info("go", kBool, {}),
        value_info("lines", kFloat, {kLines, 2})},
       {value_info("go", kBool, {}), lines_info("lines_out")},
       {int_tensor("zero", {0}), int_tensor("one", {1}),
        int_tensor("most", {INT64_MAX})}});
}

// The second half of the lines, the smaller one, and x added to it.
Message halving_body() {
  return graph({{node("Shape", {"lines"}, {"sizes"}),
                 node("Gather", {"sizes", "zero"}, {"length"}),
                 node("Add", {"length", "one"}, {"more"}),
                 node("Div", {"more", "two"}, {"half"}),
                 node("Slice", {"lines", "half", "length", "zero"}, {"rest"}),
                 node("Add", {"rest", "x"}, {"lines_out"})},
                {value_info("i", kInt64, {}), value_info("go", kBool, {}),
                 lines_info("lines")},
                {value_info("go", kBool, {}), lines_info("lines_out")},
                {int_tensor("zero", {0}), int_tensor("one", {1}),
                 int_tensor("two", {2})}});
}

Message loop_of(const Message& body) {
  return model(
      graph({{node("Loop", {"count", "", "first"}, {"y"},
                   {graph_attribute("body", body)}),
              node("Neg", {"y"}, {"z"})},
             {value_info("x", kFloat, {1, 2}), value_info("count", kInt64, {}),
              value_info("first", kFloat, {kLines, 2})},
             {lines_info("z")},
             {}}));
}

std::vector<float> first_lines() {
  std::vector<float> lines;
  for (int64_t i = 0; i < 2 * kLines; ++i)
    lines.push_back(static_cast<float>(100 + i));
  return lines;
}

ValueList line_inputs(int64_t count) {
  return {kX.as_strided({1, 2}, {2, 1}, 0), number(count),
          Tensor::from(first_lines(), {kLines, 2})};
}

std::vector<float> replaced(int64_t count) {
  std::vector<float> lines = first_lines();
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    lines[2 * i] = 0.5F * static_cast<float>(i + 1);
    lines[2 * i + 1] = 2 * static_cast<float>(i + 1);
  }
  for (float& one : lines) one = -one;
  return lines;
}

std::vector<float> halved(int64_t count) {
  std::vector<float> lines = first_lines();
  for (int64_t i = 0; i < count; ++i) {
    const size_t half = (lines.size() / 2 + 1) / 2;
    lines.erase(lines.begin(), lines.begin() + static_cast<int64_t>(2 * half));
    for (size_t k = 0; k < lines.size(); ++k) lines[k] += k % 2 ? 2 : 0.5F;
  }
  for (float& one : lines) one = -one;
  return lines;
}

TEST(OnnxCuttingLoop, LinesInTheMiddleAreReplaced) {
  const Both both(loop_of(replacing_body()));
  for (const int64_t count : {3, 0, 6, 1, 2, 6})
    EXPECT_EQ(both(line_inputs(count)), replaced(count)) << count;
  EXPECT_TRUE(both.native()) << make_report(*both.compiled.module).text();
}

TEST(OnnxCuttingLoop, WhatIsCarriedBecomesShorter) {
  const Both both(loop_of(halving_body()));
  for (const int64_t count : {1, 0, 2, 3, 1, 4})
    EXPECT_EQ(both(line_inputs(count)), halved(count)) << count;
  EXPECT_TRUE(both.native()) << make_report(*both.compiled.module).text();
}

TEST(OnnxCuttingLoop, ThreadsLoopAtOnce) {
  const Both both(loop_of(replacing_body()));
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 20; ++i) {
        const auto count = (static_cast<int64_t>(t) + i) % (kLines + 1);
        wrong[t] +=
            floats(both.compiled.run(line_inputs(count))) != replaced(count);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

// Puts x w in the place of line i, w and x unchanged but for their names; `w`
// is a tensor of the model, `x` is not.
Message multiplying_body() {
  return graph(
      {{node("Unsqueeze", {"i", "zero"}, {"at"}),
        node("Add", {"at", "one"}, {"next"}),
        node("MatMul", {"x_in", "w_in"}, {"line"}),
        node("Slice", {"lines", "zero", "at", "zero"}, {"before"}),
        node("Slice", {"lines", "next", "most", "zero"}, {"behind"}),
        node("Concat", {"before", "line", "behind"}, {"lines_out"},
             {int_attribute("axis", 0)}),
        node("Identity", {"w_in"}, {"w_same"}),
        node("Identity", {"w_same"}, {"w_out"})},
       {value_info("i", kInt64, {}), value_info("go", kBool, {}),
        value_info("w_in", kFloat, {2, 2}), lines_info("lines"),
        value_info("x_in", kFloat, {1, 2})},
       {value_info("go", kBool, {}), value_info("w_out", kFloat, {2, 2}),
        lines_info("lines_out"), value_info("x_in", kFloat, {1, 2})},
       {int_tensor("zero", {0}), int_tensor("one", {1}),
        int_tensor("most", {INT64_MAX})}});
}

Message model_of_unchanged() {
  return model(
      graph({{node("Loop", {"count", "", "w", "first", "x"}, {"w2", "y", "x2"},
                   {graph_attribute("body", multiplying_body())}),
              node("MatMul", {"x2", "w2"}, {"last"}),
              node("Concat", {"y", "last"}, {"z"}, {int_attribute("axis", 0)})},
             {value_info("x", kFloat, {1, 2}), value_info("count", kInt64, {}),
              value_info("first", kFloat, {kLines, 2})},
             {lines_info("z")},
             {float_tensor("w", {2, 2}, {1, 2, 3, 4})}}));
}

TEST(OnnxCuttingLoop, WhatIterationsGiveBackUnchanged) {
  const Both both(model_of_unchanged());
  for (const int64_t count : {3, 0, 6, 1, 2, 6}) {
    std::vector<float> expected = first_lines();
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      expected[2 * i] = 6.5F;
      expected[2 * i + 1] = 9;
    }
    expected.insert(expected.end(), {6.5F, 9});
    EXPECT_EQ(both(line_inputs(count)), expected) << count;
  }
  EXPECT_TRUE(both.native()) << make_report(*both.compiled.module).text();
}

// Range(a[0], a[1], a[2]) * x.
Message model_of_range() {
  return model(graph(
      {{node("Split", {"a", "ones"}, {"a0", "a1", "a2"},
             {int_attribute("axis", 0)}),
        node("Squeeze", {"a0"}, {"start"}), node("Squeeze", {"a1"}, {"limit"}),
        node("Squeeze", {"a2"}, {"delta"}),
        node("Range", {"start", "limit", "delta"}, {"range"}),
        node("Cast", {"range"}, {"real"}, {int_attribute("to", kFloat)}),
        node("Mul", {"real", "x"}, {"y"})},
       {value_info("a", kInt64, {3}), value_info("x", kFloat, {1})},
       {value_info("y", kFloat, {-1})},
       {int_tensor("ones", {1, 1, 1})}}));
}

std::vector<float> stepped(int64_t start, int64_t limit, int64_t delta) {
  std::vector<float> made;
  for (int64_t i = start; delta > 0 ? i < limit : i > limit; i += delta)
    made.push_back(static_cast<float>(i) / 2);
  return made;
}

ValueList range_inputs(int64_t start, int64_t limit, int64_t delta) {
  return {Tensor::from(std::vector<int64_t>{start, limit, delta}, {3}),
          Tensor::from(std::vector<float>{0.5F}, {1})};
}

TEST(OnnxRangeOfData, AsCountedByHand) {
  const Both both(model_of_range());
  for (const int64_t delta : {1, 2, 3, -1, -2, -5})
    for (const int64_t start : {-3, 0, 4})
      for (const int64_t limit : {-6, -3, 0, 1, 5, 9})
        EXPECT_EQ(both(range_inputs(start, limit, delta)),
                  stepped(start, limit, delta))
            << start << ' ' << limit << ' ' << delta;
}

TEST(OnnxRangeOfData, OfOneLengthIsOneProgram) {
  const Both both(model_of_range());
  for (int64_t start = 0; start < 20; ++start)
    EXPECT_EQ(both(range_inputs(start, start + 14, 2)),
              stepped(start, start + 14, 2));
  EXPECT_LE(make_report(*both.compiled.module).programs.size(), 2U);
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
