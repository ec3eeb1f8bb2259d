// Corners of graphs and modules: what makes no function, copies, notes that go
// over to new nodes.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Corners)

namespace TEST_FILE {

using fx::Graph;
using fx::GraphModule;
using fx::Interpreter;
using fx::Node;
using fx::NodePtr;
using fx::symbolic_trace;

using Placeholders = std::vector<nn::ArgSpec>;

nn::Ref<GraphModule> module_of(std::unique_ptr<Graph> graph) {
  return GraphModule::create(nn::Module(), std::move(graph));
}

nn::Ref<GraphModule> with_placeholders(const Placeholders& specs) {
  auto graph = std::make_unique<Graph>();
  for (const nn::ArgSpec& spec : specs)
    graph->placeholder(spec.name, None, spec.default_value);
  graph->output(None);
  return module_of(std::move(graph));
}

Value note(const Node& node, const char* key) {
  const Value* const found = node.meta().find(key);
  return found ? *found : Value();
}

Value notes(const Graph& graph) {
  ValueList list;
  for (const Node* node : graph.nodes())
    list.push_back(
        Value::list({node->name(), note(*node, "custom"),
                     note(*node, "stack_trace"), note(*node, "mine")}));
  return Value::list(std::move(list));
}

class Scaled : public nn::Custom<Scaled> {
 public:
  Scaled() : Custom("Scaled", {"x"}) {
    lin = register_module("lin", nn::Linear::create(2, 2));
  }
  Value forward(Value x) { return lin(x) * 2; }
  nn::Ref<nn::Linear> lin;
};

// Doubles what relu gives.
class Twice : public fx::Transformer {
 public:
  using Transformer::Transformer;
  Value call_function(const fx::Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
    Value result = Transformer::call_function(target, args, kwargs);
    return target.text() == "torch.relu" ? result * 2 : result;
  }
};

MIRROR_CASE(Corners, placeholders_that_make_no_function) {
  const std::vector<Placeholders> refused = {
      {"x", "x"},
      {"x", {"y", 1}, "z"},
      {""},
      {"a b"},
      {"a.b"},
      {"class"},
      {"*args", "*more"},
      {"**kw", "y"},
      {"x", "self"},
      {"*x", "x"},
      {"x", "*args", "**args"},
  };
  for (const Placeholders& specs : refused)
    expect_error([&] { with_placeholders(specs); }, " (");
  expect_code(with_placeholders({"*args", "y"}));
  expect_code(with_placeholders({"self", "x"}));
  expect_code(with_placeholders({"x", {"y", 1}, "*a", "z", "**k"}));
}

MIRROR_CASE(Corners, nothing_to_trace) {
  expect_error([] { symbolic_trace(nn::Ref<nn::Linear>()); });
  expect_error([] { fx::map_arg(Value::list({1}), nullptr); });
}

MIRROR_CASE(Corners, copies_end_with_the_output) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr neg = graph.call_function("torch.neg", {x});
  const NodePtr out = graph.output(Value::tuple({neg, x}));
  graph.call_function("torch.sin", {x});
  out->meta().set("note", 3);
  expect_graph(*graph.copy());
  out->force_name("result");
  const auto made = graph.copy();
  ValueList names;
  for (const Node* node : made->nodes()) names.emplace_back(node->name());
  expect_value("names", names);
  expect_value("note", note(*made->nodes().back(), "note"));
  expect_graph(*Graph().copy());
}

MIRROR_CASE(Corners, copies_of_modules) {
  const auto gm = symbolic_trace(Scaled::create());
  expect_text("traced", gm->str());
  expect_text("deep copy", gm->deep_copy()->str());
  expect_text("copy", gm->copy()->str());
}

MIRROR_CASE(Corners, notes_kept_by_transformers) {
  const auto gm = symbolic_trace([](Value x) -> Value { return relu(x + 1); },
                                 {"x"}, "lambda");
  int i = 0;
  for (NodePtr node : gm->graph().nodes()) {
    node->meta().set("custom", Value::dict({{"index", i}}));
    node->meta().set("mine", i);
    node->meta().set("stack_trace", "File \"a.py\", line " + std::to_string(i) +
                                        ", in f\n    x");
    ++i;
  }
  const auto made = Twice(gm).transform();
  expect_graph(made);
  expect_value("notes", notes(made->graph()));
}

MIRROR_CASE(Corners, annotations) {
  using fx::traceback::Annotation;
  using fx::traceback::PreserveNodeMeta;
  Graph graph;
  const Value x = fx::proxy(graph.placeholder("x"));
  x + 1;
  {
    const Annotation a({{"a", 1}});
    x + 2;
  }
  {
    const PreserveNodeMeta preserve;
    x + 3;
    {
      const Annotation a({{"a", 1}, {"b", 2}});
      x + 4;
      {
        const Annotation b({{"b", 3}, {"c", None}});
        x + 5;
      }
      x + 6;
    }
    x + 7;
    fx::traceback::set_stack_trace("line one\nline two");
    x + 8;
    {
      const PreserveNodeMeta not_here(false);
      x + 9;
    }
    fx::traceback::set_stack_trace("");
    x + 10;
  }
  x + 11;
  expect_value("notes", notes(graph));
  expect_value("preserved", fx::traceback::has_preserved_node_meta());
}

MIRROR_CASE(Corners, notes_in_readable_code) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return relu(x + 1) * 2; }, {"x"}, "<lambda>");
  const std::vector<NodePtr> calls =
      gm->graph().find_nodes(fx::Opcode::call_function);
  ValueList numbers;
  for (int i = 0; i < 30; ++i) numbers.emplace_back(i);
  calls[0]->meta().set(
      "custom",
      Value::dict({{"a", 1}, {"b", "short"}, {"c", std::string(41, 'x')}}));
  calls[1]->meta().set(
      "custom", Value::dict({{"list", Value::list(numbers)}, {"none", None}}));
  calls[2]->meta().set("custom", Value::dict({}));
  expect_text("readable", gm->print_readable());
}

MIRROR_CASE(Corners, nodes_of_sizes) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr size = graph->create_size_node(x, 1);
  const NodePtr stride = graph->create_stride_node(x, 0);
  const NodePtr offset = graph->create_storage_offset_node(x);
  graph->output(Value::tuple({size, stride, offset}));
  expect_graph(*graph);
  const auto gm = module_of(std::move(graph));
  expect_value("numbers", Value::list(gm->call({fill({2, 3})}).as_sequence()));
  Graph other;
  const NodePtr y = other.placeholder("y");
  y->set_val(Tensor::meta({4, 5}, DType::f32));
  expect_value("known",
               Value::list({other.create_size_node(y, -1)->val(),
                            other.create_stride_node(y, 0)->val(),
                            other.create_storage_offset_node(y)->val()}));
}

MIRROR_CASE(Corners, erased_nodes_keep_no_nodes) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr gone =
      graph.call_function("torch.add", {x, Value::list({x, 1})},
                          {{"alpha", Value::dict({{"a", x}})}});
  graph.output(x);
  graph.erase_node(gone);
  expect_text("node", gone->format_node());
  expect_value("users", x->num_users());
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
