// Graphs made and changed by hand: insertion, users, copies, what lint finds.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Graphs)

namespace TEST_FILE {

using fx::Graph;
using fx::GraphModule;
using fx::Node;
using fx::NodePtr;
using fx::Opcode;
using fx::symbolic_trace;

template <typename Nodes>
Value names(const Nodes& nodes) {
  ValueList list;
  for (const Node* node : nodes) list.emplace_back(node->name());
  return list;
}

class Root : public nn::Custom<Root> {
 public:
  Root() : Custom("Root", {"x"}) {
    register_module("linear", nn::Linear::create(3, 4));
    register_parameter("bias", Tensor::zeros({4}));
  }
  Value forward(Value x) { return x; }
};

Value list_of(std::initializer_list<Value> items) {
  return Value::list(ValueList(items));
}

MIRROR_CASE(Graphs, built_by_functions) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr linear = graph->call_module("linear", {x});
  const NodePtr bias = graph->get_attr("bias");
  const NodePtr add = graph->call_method("add", {linear, bias}, {{"alpha", 2}});
  graph->output(graph->call_function("torch.sin", {add}));
  graph->lint();
  const auto gm =
      GraphModule::create(*filled(Root::create()), std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Graphs, root_from_a_dict) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr up = graph->call_module("foo.bar.baz", {x});
  const NodePtr w = graph->get_attr("zip.zap.zam");
  graph->output(graph->call_function("torch.add", {up, w}));
  const nn::ModuleRef linear = filled(nn::Linear::create(3, 3));
  const nn::Ref<GraphModule> gm(std::make_shared<GraphModule>(
      nn::AttributeMap{{"foo.bar.baz", linear},
                       {"zip.zap.zam", Value(fill({3}, 4))}},
      std::move(graph)));
  expect_graph(gm);
  expect_code(gm);
  ValueList modules;
  for (const auto& [name, module] : gm->named_modules())
    modules.emplace_back(name);
  expect_value("modules", modules);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Graphs, edited_by_a_proxy) {
  const auto gm = symbolic_trace(
      [](Value a, Value b) -> Value { return a + b; }, {"a", "b"});
  Graph& graph = gm->graph();
  const NodePtr output = graph.output_node();
  {
    const auto scope = graph.inserting_before(output);
    const Value twice = fx::proxy(graph.find_node("add")) * 2;
    output->set_args({fx::node_of(twice)});
  }
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2}, 3), fill({2}, 4)});
}

MIRROR_CASE(Graphs, insertion_points) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr relu = graph.call_function("torch.relu", {x});
  graph.output(relu);
  NodePtr neg;
  {
    const auto scope = graph.inserting_before(relu);
    neg = graph.call_function("torch.neg", {x});
    graph.call_function("torch.tanh", {neg});
  }
  relu->set_args({relu->prev()});
  {
    const auto scope = graph.inserting_after(x);
    graph.call_function("torch.sin", {x});
    graph.call_function("torch.cos", {x});
  }
  {
    const auto scope = graph.inserting_after();
  }
  graph.lint();
  expect_graph(graph);
  graph.inserting_before(neg).keep();
  graph.call_function("torch.exp", {x});
  {
    const auto scope = graph.inserting_before();
    graph.placeholder("y");
  }
  expect_graph(graph);
}

MIRROR_CASE(Graphs, moved_before) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr a = graph.call_function("torch.relu", {x});
  const NodePtr b = graph.call_function("torch.neg", {y});
  graph.output(Value::tuple({a, b}));
  a->prepend(b);
  expect_value("order", names(graph.nodes()));
  b->append(y);
  expect_value("order", names(graph.nodes()));
  expect_value("reversed", names(graph.nodes().reversed()));
  expect_error([&] { graph.lint(); });
}

MIRROR_CASE(Graphs, users_and_inputs) {
  Graph graph;
  const NodePtr a = graph.placeholder("a");
  const NodePtr b = graph.call_module("linear", {a});
  const NodePtr c = graph.get_attr("bias");
  const NodePtr d = graph.call_method(
      "add", {b, c}, {{"alpha", list_of({c, Value::tuple({a, b})})}});
  const NodePtr e = graph.call_function("torch.sin", {d});
  graph.output(e);
  for (NodePtr node : {b, c, d, e})
    expect_value("inputs", names(node->all_input_nodes()));
  for (NodePtr node : {a, b, c, d}) expect_value("users", names(node->users()));
}

MIRROR_CASE(Graphs, uses_follow_arguments) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr add = graph.call_function("torch.add", {x, x});
  const NodePtr two = graph.call_function("torch.add", {x, y}, {{"alpha", 2}});
  graph.output(Value::tuple({add, two}));
  expect_value("users", list_of({names(x->users()), names(y->users())}));
  add->set_args({y, y});
  expect_value("users", list_of({names(x->users()), names(y->users())}));
  two->set_kwargs(
      {{"alpha", x}, {"other", list_of({x, Value::dict({{"k", add}})})}});
  two->set_args({});
  const auto expect_users = [&] {
    expect_value("users", list_of({names(x->users()), names(y->users()),
                                   names(add->users())}));
  };
  expect_users();
  two->set_kwarg("alpha", y);
  add->set_arg(1, x);
  expect_users();
  expect_graph(graph);
}

MIRROR_CASE(Graphs, all_uses_replaced) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr a =
      graph.call_function("torch.add", {x, list_of({x, Value::tuple({x})})},
                          {{"k", Value::dict({{"v", x}})}});
  const NodePtr b = graph.call_function("torch.neg", {a});
  graph.output(Value::tuple({x, b}));
  expect_value("changed", names(x->replace_all_uses_with(y)));
  expect_graph(graph);
  a->replace_input_with(y, x);
  expect_graph(graph);
  expect_value("changed", names(y->replace_all_uses_with(x, [](NodePtr user) {
                 return !user->is(Opcode::output);
               })));
}

MIRROR_CASE(Graphs, erased) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr relu = graph.call_function("torch.relu", {x});
  const NodePtr neg = graph.call_function("torch.neg", {relu});
  graph.output(neg);
  expect_error([&] { graph.erase_node(relu); });
  const NodePtr unused = graph.call_function("torch.sin", {relu});
  expect_value("users", names(relu->users()));
  graph.erase_node(unused);
  expect_value("users", names(relu->users()));
  expect_value("order", names(graph.nodes()));
  expect_value("length", graph.nodes().size());
}

MIRROR_CASE(Graphs, nodes_erased_while_iterating) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        for (int i = 0; i < 5; ++i) x = method(relu(x), "neg");
        return x;
      },
      {"x"});
  for (NodePtr node : gm->graph().nodes()) {
    if (!node->is(Opcode::call_method)) continue;
    node->replace_all_uses_with(node->arg_node(0));
    gm->graph().erase_node(node);
  }
  gm->recompile();
  expect_graph(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(Graphs, copied_into_another_graph) {
  const auto inner = symbolic_trace(
      [](Value x, Value y) -> Value { return relu(x) + y; }, {"x", "y"});
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr neg = graph.call_method("neg", {x});
  const auto placeholders = inner->graph().placeholders();
  fx::ValueMap map = {{placeholders[0], neg}, {placeholders[1], x}};
  const Value result = graph.graph_copy(inner->graph(), map);
  graph.output(Value::tuple({result, result}));
  graph.lint();
  expect_graph(graph);
  expect_value("inner", names(inner->graph().nodes()));
}

MIRROR_CASE(Graphs, inlined_graph) {
  const auto a =
      symbolic_trace([](Value x) -> Value { return method(x, "relu"); }, {"x"});
  const auto b =
      symbolic_trace([](Value x) -> Value { return method(x, "neg"); }, {"x"});
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  fx::ValueMap first = {{a->graph().nodes().front(), x}};
  fx::ValueMap second = {
      {b->graph().nodes().front(), graph->graph_copy(a->graph(), first)}};
  graph->output(graph->graph_copy(b->graph(), second));
  const auto gm = GraphModule::create(nn::Module("Module"), std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4})});
}

MIRROR_CASE(Graphs, unique_names) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a =
      graph.create_node(Opcode::call_module, "linear_mod", {x}, {}, "foo_1_1");
  const NodePtr b = graph.call_function("torch.add", {a, a}, {}, "foo_1");
  graph.output(b);
  Graph other;
  fx::ValueMap map;
  other.graph_copy(graph, map);
  other.node_copy(*b, [&](NodePtr n) { return map.at(n); });
  ValueList all = names(other.nodes()).as_sequence();
  all.emplace_back(other.nodes().back()->name());
  expect_value("names", all);
  expect_graph(other);
}

MIRROR_CASE(Graphs, names_from_targets) {
  Graph graph;
  for (const char* target :
       {"PascalCase", "ALL_CAPS", "snake_case", "camelCase2", "x.y.0", "0start",
        "with-dash", "list", "for", "_private", "a.B.cD"})
    graph.call_module(target);
  for (const char* target : {"__add__", "__getitem__", "relu_", "Size"})
    graph.call_method(target, {1});
  for (const char* name : {"inf", "nan", "NoneType", "torch", "device", "x",
                           "x", "x_1", "x_1_1", "self", "True", "pytree"})
    graph.placeholder(name);
  expect_value("names", names(graph.nodes()));
}

MIRROR_CASE(Graphs, foreign_node) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.output(x);
  Graph other;
  other.output(other.call_function("torch.relu", {x}));
  expect_error([&] { other.lint(); });
}

MIRROR_CASE(Graphs, wrong_order) {
  Graph graph;
  const NodePtr a = graph.placeholder("a");
  const NodePtr b = graph.call_module("foo.bar.baz.bat", {a});
  const NodePtr c = graph.call_function("torch.relu", {b});
  const NodePtr d = graph.call_function("torch.neg", {c});
  graph.output(d);
  d->append(b);
  expect_error([&] { graph.lint(); });
}

MIRROR_CASE(Graphs, missing_target) {
  const auto gm = symbolic_trace(nn::Sequential::create(nn::ReLU::create()));
  {
    const auto scope = gm->graph().inserting_before();
    gm->graph().get_attr("not.there");
  }
  expect_error([&] { gm->graph().lint(); });
}

MIRROR_CASE(Graphs, immutable_arguments) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr cat =
      graph.call_function("torch.cat", {list_of({x, x})},
                          {{"out", Value::dict({{"a", list_of({1, 2})}})}});
  expect_text("node", cat->format_node());
  expect_value("equal", same(cat->arg(0), list_of({x, x})));
  const LeafPrinter name = [](const Value& leaf, const void*) {
    return std::string(leaf.as_node()->name());
  };
  expect_text("args", repr(Value::tuple(cat->args()), name));
  expect_text("kwargs", repr(Value::dict({{"out", cat->kwarg("out")}}), name));
}

MIRROR_CASE(Graphs, unused_placeholders_stay) {
  const auto gm = symbolic_trace(
      [](Value x, Value y, Value) -> Value {
        neg(x);
        cos(sin(x));
        return x + y;
      },
      {"x", "y", {"unused", 3}});
  expect_value("changed", gm->graph().eliminate_dead_code());
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_value("changed", gm->graph().eliminate_dead_code());
  expect_outputs(gm, {fill({2}), fill({2}, 1)});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
