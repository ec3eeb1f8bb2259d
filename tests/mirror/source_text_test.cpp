// Generated code and printed nodes: literals, operators, annotations, names.
#include <limits>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(SourceText)

namespace TEST_FILE {

using fx::Graph;
using fx::GraphModule;
using fx::Node;
using fx::NodePtr;
using fx::symbolic_trace;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

nn::Ref<GraphModule> module_of(std::unique_ptr<Graph> graph) {
  return GraphModule::create(nn::Module("Module"), std::move(graph));
}

class Paths : public nn::Custom<Paths> {
 public:
  Paths() : Custom("M", {"x"}) {
    stack =
        nn::Sequential::create(nn::Linear::create(3, 3), nn::ReLU::create());
    register_module("layers", nn::ModuleList::create(stack));
    dict = register_module(
        "dict", nn::ModuleDict::create({{"a-b", nn::Linear::create(3, 3)}}));
  }
  Value forward(Value x) {
    const Value up = (*dict)["a-b"](stack(x));
    return up + (*stack)[0]->param("bias");
  }
  nn::Ref<nn::Sequential> stack;
  nn::Ref<nn::ModuleDict> dict;
};

class Sub : public nn::Custom<Sub> {
 public:
  Sub() : Custom("Sub", {"x"}) {
    linear = register_module("linear", nn::Linear::create(3, 3));
  }
  Value forward(Value x) { return method(linear(x), "relu"); }
  nn::Ref<nn::Linear> linear;
};

class Printed : public nn::Custom<Printed> {
 public:
  Printed() : Custom("M", {"x"}) {
    sub = register_module("sub", Sub::create());
    act = register_module(
        "act",
        nn::Sequential::create(nn::GELU::create(), nn::Dropout::create(0.2)));
  }
  Value forward(Value x) { return act(sub(x)); }
  nn::Ref<Sub> sub;
  nn::Ref<nn::Sequential> act;
};

class Holder : public nn::Custom<Holder> {
 public:
  explicit Holder(nn::ModuleRef module) : Custom("M", {"x"}) {
    inner = register_module("inner", module);
  }
  Value forward(Value x) { return inner(x); }
  nn::ModuleRef inner;
};

class AllLeaves : public fx::Tracer {
 public:
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return true;
  }
};

MIRROR_CASE(SourceText, empty_graph) {
  const auto gm = module_of(std::make_unique<Graph>());
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
}

MIRROR_CASE(SourceText, only_an_input) {
  const auto gm = symbolic_trace([](Value x) -> Value { return x; }, {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2})});
}

MIRROR_CASE(SourceText, literals) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return Value::tuple({x,
                             None,
                             true,
                             3,
                             -7,
                             0.1,
                             1e-05,
                             1e16,
                             1e22,
                             3.141592653589793,
                             -0.0,
                             kInf,
                             -kInf,
                             kNan,
                             "text",
                             "it's",
                             "say \"hi\"",
                             "a\nb\\c\t",
                             Ellipsis,
                             Value::list({}),
                             Value::tuple({}),
                             Value::dict({}),
                             Value::tuple({1}),
                             Value::list({1, Value::tuple({2, 3})}),
                             Value::dict({{"k", Value::list({x})}, {3, None}}),
                             Value::slice(1, None, 2),
                             DType::f32,
                             DType::i64,
                             DType::boolean,
                             int64_t{1} << 40});
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
}

MIRROR_CASE(SourceText, infinity_and_nan) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value sum = x + kInf;
        const Value product = x * kNan;
        return Value::tuple(
            {sum, product, function("torch.clamp", {x}, {{"max", kInf}})});
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2})});
}

MIRROR_CASE(SourceText, inputs_named_like_constants) {
  auto graph = std::make_unique<Graph>();
  const NodePtr inf = graph->placeholder("inf");
  const NodePtr nan = graph->placeholder("nan");
  graph->output(graph->call_function("operator.add", {inf, nan}));
  const auto gm = module_of(std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2}), fill({2}, 1)});
}

MIRROR_CASE(SourceText, keyword_arguments) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr a = graph->call_function(
      "torch.sum", {}, {{"input", x}, {"dim", Value::tuple({0, 1})}});
  const NodePtr b = graph->call_method(
      "sum", {x}, {{"dim", Value::list({0})}, {"keepdim", true}});
  const NodePtr c =
      graph->call_function("torch.clamp", {x}, {{"min", a}, {"max", 2.5}});
  graph->output(Value::dict({{"b", b}, {"c", c}}));
  const auto gm = module_of(std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
}

MIRROR_CASE(SourceText, operators_in_place) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  NodePtr y = graph->placeholder("y");
  for (const char* name :
       {"iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand",
        "ior", "ixor", "ilshift", "irshift", "imatmul"})
    y = graph->call_function("operator." + std::string(name), {y, x});
  graph->output(y);
  const auto gm = module_of(std::move(graph));
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(SourceText, nested_operators) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  NodePtr node = graph->call_function(
      "operator.getitem",
      {x, Value::tuple({Value::slice(None, None), 0, Ellipsis, None})});
  node = graph->call_function("operator.getitem", {node, "key"});
  node = graph->call_function("operator.neg", {node});
  node = graph->call_function("operator.pow", {node, -2});
  node = graph->call_function("operator.setitem", {x, 0, node});
  graph->output(graph->call_function("operator.not_", {node}));
  const auto gm = module_of(std::move(graph));
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(SourceText, getattr_forms) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr a = graph->call_function("builtins.getattr", {x, "shape"});
  const NodePtr b = graph->call_function("builtins.getattr", {x, "0"});
  const NodePtr c =
      graph->call_function("builtins.getattr", {x, "missing", None});
  graph->output(Value::tuple({a, b, c}));
  const auto gm = module_of(std::move(graph));
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(SourceText, paths_that_are_no_names) {
  const auto gm = symbolic_trace(filled(Paths::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(SourceText, annotations) {
  const auto gm = symbolic_trace(
      [](Value x, Value y, Value z) -> Value { return x * y + z; },
      {"x", {"y", 3}, {"z", 2.5}});
  const auto placeholders = gm->graph().placeholders();
  placeholders[0]->set_type("torch.Tensor");
  placeholders[1]->set_type("int");
  placeholders[2]->set_type("float");
  gm->graph().output_node()->set_type("torch.Tensor");
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(SourceText, last_uses) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value a = x + y;
        const Value b = a * a;
        sin(b);
        const Value c = b - x;
        return Value::tuple({c + y, c});
      },
      {"x", "y"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(SourceText, no_output) {
  auto graph = std::make_unique<Graph>();
  graph->call_function("torch.neg", {graph->placeholder("x")});
  const auto gm = module_of(std::move(graph));
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(SourceText, default_values) {
  const auto gm = symbolic_trace(
      fx::TracedFunction{"f",
                         {"x",
                          {"a", None},
                          {"b", Value::tuple({1, 2})},
                          {"c", "s"},
                          {"d", kInf},
                          "*args",
                          {"e", 2},
                          "**kw"},
                         [](std::vector<Value> a) { return a[0]; }});
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
}

MIRROR_CASE(SourceText, printed_module) {
  const auto gm = symbolic_trace(Printed::create());
  expect_text("str", gm->str());
  expect_text("readable", gm->print_readable());
}

MIRROR_CASE(SourceText, readable_with_nested_graph_modules) {
  const auto holder = Holder::create(
      symbolic_trace([](Value x) -> Value { return relu(x) + 1; }, {"x"}));
  AllLeaves tracer;
  auto graph = tracer.trace(*holder);
  const auto gm = GraphModule::create(*holder, std::move(graph));
  expect_graph(gm);
  expect_text("readable", gm->print_readable());
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(SourceText, many_names) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        ValueList outputs;
        for (int i = 0; i < 12; ++i) {
          x = method(x, "add", {1});
          outputs.push_back(add(x, 2) + 3);
        }
        return Value::list(outputs);
      },
      {"x"});
  expect_code(gm);
  expect_outputs(gm, {fill({2})});
}

MIRROR_CASE(SourceText, node_texts) {
  Graph graph;
  const NodePtr x = graph.placeholder("x", {}, 2);
  const NodePtr y = graph.placeholder("y", "torch.Tensor");
  const NodePtr w = graph.get_attr("a.b");
  const NodePtr f = graph.call_function("torch.add", {x, y}, {{"alpha", w}});
  f->set_type("torch.Tensor");
  const NodePtr g = graph.call_method("relu", {f});
  const NodePtr h =
      graph.call_module("layer.0", {g, 1.5}, {{"k", Value::list({g, "s"})}});
  const NodePtr out = graph.output(Value::tuple({h, Value::list({w})}));
  for (const Node* node : {x, y, w, f, g, h, out})
    expect_text(std::string(node->name()), node->format_node());
}

MIRROR_CASE(SourceText, writing_operators_run) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr y = graph->call_method("clone", {x});
  graph->call_function("operator.setitem",
                       {y, Value::tuple({Value::slice(1, None)}), 7});
  graph->call_function("operator.setitem", {y, 0, 5});
  const NodePtr z = graph->call_function("operator.ilshift", {y, 2});
  const NodePtr w = graph->call_function("operator.irshift", {z, 1});
  const NodePtr v = graph->call_function("operator.iadd", {w, 1});
  graph->output(Value::tuple({y, v}));
  const auto gm = module_of(std::move(graph));
  expect_value("changed", gm->graph().eliminate_dead_code());
  expect_code(gm);
  expect_outputs(gm, {fill({4}, 1, DType::i64)},
                 {.eager = {"_operator.ilshift", "_operator.irshift"}});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
