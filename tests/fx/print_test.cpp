// Printed forms and generated code. Expected texts are torch 2.13's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/wrap.h"

namespace fxjit::fx {
namespace TEST_FILE {

std::string code(const Graph& graph) { return graph.python_code().src; }

TEST(Print, Arguments) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y", None, Value(3.5));
  const NodePtr n = graph.call_method(
      "foo",
      {x, Value::list({y, 1e-05}), Value::tuple({-1}), "text", true, None,
       DType::f16, Value::slice(x, 1, None), Ellipsis, Value::dict({{"k", y}})},
      {{"inf", std::numeric_limits<double>::infinity()}, {"s", "a b"}});
  EXPECT_EQ(
      n->format_node(),
      "%foo : [num_users=0] = call_method[target=foo](args = (%x, [%y, "
      "1e-05], (-1,), text, True, None, torch.float16, slice(x, 1, None), "
      "Ellipsis, {k: %y}), kwargs = {inf: inf, s: a b})");
  EXPECT_EQ(y->format_node(),
            "%y : [num_users=1] = placeholder[target=y](default=3.5)");
}

TEST(Print, TypesAndTargets) {
  Graph graph;
  const NodePtr x = graph.placeholder("x", "torch.Tensor", Value(None));
  const NodePtr w = graph.get_attr("a.w");
  const NodePtr f = graph.call_function("torch.nn.functional.gelu", {x});
  const NodePtr g = graph.call_function("aten.add.Tensor", {f, w});
  graph.output(Value::tuple({g}), "torch.Tensor");
  EXPECT_EQ(
      graph.str(),
      "graph():\n"
      "    %x : torch.Tensor [num_users=1] = "
      "placeholder[target=x](default=None)\n"
      "    %a_w : [num_users=1] = get_attr[target=a.w]\n"
      "    %gelu : [num_users=1] = "
      "call_function[target=" +
          std::string(f->target_name()) +
          "](args = (%x,), kwargs = {})\n"
          "    %add_tensor : [num_users=1] = "
          "call_function[target=torch.ops.aten.add.Tensor](args = (%gelu, "
          "%a_w), kwargs = {})\n"
          "    return (add_tensor,)");
}

TEST(Print, EmptyGraph) {
  Graph graph;
  EXPECT_EQ(graph.str(), "graph():");
  EXPECT_EQ(code(graph), "\n\n\ndef forward(self):\n    pass\n    ");
  graph.output(Value::tuple({}));
  EXPECT_EQ(code(graph), "\n\n\ndef forward(self):\n    return ()\n    ");
}

TEST(Print, Tabular) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.output(graph.call_method("relu", {graph.call_module("l", {x})},
                                 {{"k", Value::list({1})}}));
  EXPECT_EQ(graph.tabular(),
            "opcode       name    target    args     kwargs\n"
            "-----------  ------  --------  -------  ----------\n"
            "placeholder  x       x         ()       {}\n"
            "call_module  l       l         (x,)     {}\n"
            "call_method  relu    relu      (l,)     {'k': [1]}\n"
            "output       output  output    (relu,)  {}");
}

TEST(Print, TabularShowsOperatorsAsPython) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.call_function("_operator.add", {x, 1});
  EXPECT_EQ(graph.tabular(),
            "opcode         name    target                   args    kwargs\n"
            "-------------  ------  -----------------------  ------  "
            "--------\n"
            "placeholder    x       x                        ()      {}\n"
            "call_function  add     <built-in function add>  (x, 1)  {}");
}

TEST(Code, OperatorsAndDeletions) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y", None, Value(3.5));
  const NodePtr args = graph.placeholder("*args");
  const NodePtr p = graph.get_attr("param");
  const NodePtr add = graph.call_function("_operator.add", {x, p});
  const NodePtr neg = graph.call_function("_operator.neg", {add});
  const NodePtr item = graph.call_function(
      "_operator.getitem",
      {neg, Value::tuple({Value::slice(None, None, None),
                          Value::slice(1, 3, None), Ellipsis})});
  graph.call_function("_operator.mul", {item, y});
  const NodePtr seq = graph.call_module("seq.0", {item});
  const NodePtr clamp =
      graph.call_method("clamp", {seq}, {{"min", 0.0}, {"max", 1.0}});
  graph.output(Value::dict({{"a", clamp}, {"b", args}}));
  EXPECT_EQ(code(graph),
            "\n\n\n"
            "def forward(self, x, y = 3.5, *args):\n"
            "    _args = args\n"
            "    param = self.param\n"
            "    add = x + param;  x = param = None\n"
            "    neg = -add;  add = None\n"
            "    getitem = neg[(slice(None, None, None), slice(1, 3, None), "
            "Ellipsis)];  neg = None\n"
            "    mul = getitem * y;  y = mul = None\n"
            "    seq_0 = getattr(self.seq, \"0\")(getitem);  getitem = None\n"
            "    clamp = seq_0.clamp(min = 0.0, max = 1.0);  seq_0 = None\n"
            "    return {'a': clamp, 'b': _args}\n    ");
}

TEST(Code, WrappedFunctionsAndAnnotations) {
  const Wrapped fn = wrap("my.mod.fn", [](Value v) { return v; });
  Graph graph;
  const NodePtr x = graph.placeholder("x", "torch.Tensor", Value(None));
  const NodePtr call = graph.call_function(fn.function(), {x}, {{"b", 2}});
  call->meta().set("is_wrapped", true);
  graph.output(call, "torch.Tensor");
  const PythonCode generated = graph.python_code();
  EXPECT_EQ(generated.src,
            "\ntorch.fx._symbolic_trace.wrap(\"my_mod_fn\")\n\n"
            "def forward(self, x : torch.Tensor = None) -> torch.Tensor:\n"
            "    fn = my_mod_fn(x, b = 2);  x = None\n"
            "    return fn\n    ");
  EXPECT_EQ(generated.globals.back().second,
            "from my.mod import fn as my_mod_fn");
}

TEST(Code, LineMapPointsToNodes) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_method("a", {x});
  graph.output(graph.call_method("b", {a}));
  // def, a, b, return, and the empty last line.
  EXPECT_EQ(graph.python_code().lineno_map, (std::vector<int>{-1, 1, 2, 3, 3}));
}

TEST(Code, NonFiniteAndExactFloats) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a =
      graph.call_function("_operator.add", {x, 3.141592653589793});
  const NodePtr b = graph.call_method(
      "f", {a, std::nan(""), -std::numeric_limits<double>::infinity()});
  const NodePtr inf = graph.call_method("g", {b}, {}, "inf");
  graph.output(inf);
  EXPECT_EQ(code(graph),
            "\n\n\n"
            "def forward(self, x):\n"
            "    add = x + 3.141592653589793;  x = None\n"
            "    f = add.f(nan, -inf);  add = None\n"
            "    inf_1 = f.g();  f = None\n"
            "    return inf_1\n    ");
}

TEST(Code, VerboseShowsShapesAndLines) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  x->set_val(Tensor::meta({2, 3}, DType::f32));
  const NodePtr a = graph.call_method("relu", {x});
  a->set_val(Tensor::meta({2, 3}, DType::f32));
  a->meta().set("stack_trace",
                "File \"m.py\", line 3, in forward\n    x = x.relu()");
  const NodePtr b = graph.call_method("neg", {a});
  graph.output(b);
  const auto gm = GraphModule::create(nn::Module(), graph.copy());
  EXPECT_EQ(gm->print_readable({.include_stride = true}),
            "class GraphModule(torch.nn.Module):\n"
            "    def forward(self, x: \"f32[2, 3][3, 1]\"):\n"
            "        # File: m.py:3 in forward, code: x = x.relu()\n"
            "        relu: \"f32[2, 3][3, 1]\" = x.relu();  x = None\n"
            "\n"
            "        # No stacktrace found for following nodes\n"
            "        neg = relu.neg();  relu = None\n"
            "        return neg\n");
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
