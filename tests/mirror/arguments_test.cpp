// Values of all kinds as arguments: how graphs, tables and code print them.
#include <cmath>
#include <limits>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Arguments)

namespace TEST_FILE {

using fx::Graph;
using fx::NodePtr;

constexpr double kInf = std::numeric_limits<double>::infinity();

Value list(ValueList items) { return Value::list(std::move(items)); }
Value tuple(ValueList items) { return Value::tuple(std::move(items)); }
Value dict(ValueDict items) { return Value::dict(std::move(items)); }

const ValueList& floats() {
  static const ValueList kFloats = {
      0.0,
      -0.0,
      1.0,
      -1.5,
      0.1 + 0.2,
      1e15,
      1e16,
      1.5e16,
      123456789012345678.0,
      9007199254740993.0,
      1e-4,
      1e-5,
      0.00012345,
      5e-324,
      2.2250738585072014e-308,
      1.7976931348623157e308,
      1e22,
      1e100,
      -1e-7,
      3.141592653589793,
      kInf,
      -kInf,
      std::nan(""),
      3.0e8,
      100000.0,
      1e5 + 0.1,
  };
  return kFloats;
}

const ValueList& strings() {
  static const ValueList kStrings = {
      "",
      "a",
      "'",
      "\"",
      "'\"",
      "\\",
      "\\n",
      "\n",
      "\r\t",
      std::string(1, '\0'),
      "\x01\x1f",
      "\x7f",
      "\u00e9",
      "\u65e5\u672c\u8a9e",
      "\U0001f600",
      "\u00a0",
      "\u00ad",
      "\u0085",
      "\u200b",
      "\u2028",
      "\ufeff",
      "\ue000",
      "\u3000",
      "%x",
      "{}",
      "a b",
      "it's \u00e9",
      "\ufffd",
      "\U000e0001",
      "\U0010ffff",
      "\u00ff\u0100",
  };
  return kStrings;
}

void all_in_one(Graph& graph, const ValueList& values) {
  const NodePtr x = graph.placeholder("x");
  for (const Value& value : values)
    graph.call_function("torch.add", {x, value}, {{"k", value}});
  graph.output(x);
}

std::string lines_of(const Graph& graph, size_t count) {
  const std::vector<NodePtr> nodes = graph.nodes().list();
  std::string lines;
  for (size_t i = 1; i <= count; ++i)
    lines += (i > 1 ? "\n" : "") + nodes[i]->format_node();
  return lines;
}

MIRROR_CASE(Arguments, floats) {
  Graph graph;
  all_in_one(graph, floats());
  expect_graph(graph);
  expect_code(graph);
  expect_tabular(graph);
}

MIRROR_CASE(Arguments, strings) {
  Graph graph;
  all_in_one(graph, strings());
  expect_text("graph", lines_of(graph, 7));
  expect_code(graph);
}

MIRROR_CASE(Arguments, strings_in_containers) {
  Graph graph;
  ValueList values;
  for (const Value& s : strings()) values.push_back(list({s}));
  for (const Value& s : strings()) values.push_back(dict({{s, tuple({s})}}));
  all_in_one(graph, values);
  expect_text("graph", lines_of(graph, 8));
  expect_code(graph);
  expect_tabular(graph);
}

MIRROR_CASE(Arguments, integers_and_constants) {
  Graph graph;
  all_in_one(graph, {0, -1, std::numeric_limits<int64_t>::max(),
                     std::numeric_limits<int64_t>::min(), true, false, None,
                     Ellipsis, DType::f32, DType::boolean, DType::i64,
                     DType::bf16, Value::range(0, 3, 1), Value::range(1, 3, 1),
                     Value::range(5, 0, -2), Value::range(0, 0, 1)});
  expect_graph(graph);
  expect_code(graph);
  expect_tabular(graph);
}

MIRROR_CASE(Arguments, containers) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const ValueList values = {
      tuple({}),
      list({}),
      dict({}),
      tuple({1}),
      list({1}),
      tuple({tuple({})}),
      list({list({})}),
      tuple({list({})}),
      dict({{"a", dict({})}}),
      dict({{"a", dict({{"b", tuple({x})}})}}),
      list({x, list({x, tuple({x})})}),
      tuple({x}),
      dict({{"k", list({x, None})}}),
      dict({{1, x}}),
      dict({{tuple({1, "a"}), list({x})}}),
      dict({{None, 1}}),
      dict({{true, 0}, {2.5, 1}}),
      dict({{"a b", 1}}),
      tuple({tuple({1, tuple({2, tuple({3})})})}),
      list({None, Ellipsis, true}),
      dict({{"x", "x"}}),
      list({"x", x}),
  };
  for (const Value& value : values)
    graph.call_function("torch.add", {value}, {{"k", value}});
  graph.output(dict({{"r", list({x, tuple({x, dict({{"s", x}})})})}}));
  expect_graph(graph);
  expect_code(graph);
  expect_tabular(graph);
}

MIRROR_CASE(Arguments, slices) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr n = graph.placeholder("n");
  const Value all = Value::slice(None, None);
  const ValueList indices = {
      all,
      Value::slice(None, 1),
      Value::slice(1, 2),
      Value::slice(None, None, 2),
      Value::slice(-3, None),
      Value::slice(None, -1),
      Value::slice(0, 0, 1),
      Value::slice(n, None, n),
      Value::slice(tuple({1, n}), list({n})),
      tuple({all, 0}),
      tuple({Ellipsis, None}),
      tuple({None, Value::slice(1, 3), Ellipsis}),
      tuple({}),
      tuple({0}),
      list({Value::slice(None, 1)}),
      dict({{"s", Value::slice(None, n)}}),
      Value::slice("a", None),
      Value::slice(1.5, -0.0),
  };
  for (const Value& index : indices)
    graph.call_function("_operator.getitem", {x, index});
  graph.output(Value::slice(x, n));
  expect_graph(graph);
  expect_code(graph);
  expect_tabular(graph);
}

MIRROR_CASE(Arguments, long_containers) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr cat = graph.call_function(
      "torch.cat", {list(ValueList(300, Value(x)))}, {{"dim", 0}});
  ValueList numbers;
  for (int i = 0; i < 200; ++i) numbers.emplace_back(i);
  graph.call_function("torch.add", {list(numbers)});
  graph.output(tuple(ValueList(40, Value(cat))));
  expect_graph(graph);
  expect_code(graph);
  expect_value("users", x->num_users());
}

MIRROR_CASE(Arguments, defaults_and_types) {
  Graph graph;
  const ValueList values = {None,      1,      -0.0,
                            1e16,      "a",    "it's",
                            tuple({}), list({1}), dict({{"a", 1}}),
                            Ellipsis,  true,   DType::f16,
                            Value::slice(None, 1)};
  for (size_t i = 0; i < values.size(); ++i)
    graph.placeholder("x" + std::to_string(i), None, values[i]);
  graph.output(None);
  expect_graph(graph);
  expect_code(graph);
  expect_tabular(graph);
}

MIRROR_CASE(Arguments, outputs_of_all_kinds) {
  std::string lines;
  const ValueList values = {None,
                            1,
                            -0.0,
                            "a",
                            "it's",
                            tuple({}),
                            list({}),
                            dict({}),
                            tuple({1}),
                            Ellipsis,
                            Value::slice(None, 1),
                            DType::f32,
                            true,
                            std::nan(""),
                            tuple({"a"}),
                            dict({{"a", None}})};
  for (const Value& value : values) {
    Graph graph;
    graph.output(value);
    lines += (lines.empty() ? "" : "\n") + graph.str() + "\n" +
             graph.python_code().src;
  }
  expect_text("all", lines);
}

MIRROR_CASE(Arguments, keywords_of_all_kinds) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.call_function("torch.add", {x},
                      {{"a", 1}, {"class", 2}, {"a b", 3}, {"", x}});
  graph.call_method("foo.bar", {x}, {{"self", x}});
  graph.call_method("a b", {x, "s"});
  graph.call_module("0.1.weight x", {x});
  graph.get_attr("a.1b.c d");
  for (const ValueList& args : std::vector<ValueList>{
           {x, "shape"}, {x, "a b"}, {x, "shape", None}, {"s", "upper"}})
    graph.create_node(fx::Opcode::call_function,
                      *fx::find_callable("builtins.getattr"), args);
  graph.output(x);
  expect_graph(graph);
  expect_code(graph);
  expect_tabular(graph);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
