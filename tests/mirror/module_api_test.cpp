// GraphModule: submodules, printing, other graphs, copies.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(ModuleApi)

namespace TEST_FILE {

using fx::Graph;
using fx::GraphModule;
using fx::NodePtr;
using fx::Opcode;
using fx::symbolic_trace;

class Inner : public nn::Custom<Inner> {
 public:
  Inner() : Custom("Inner", {"x"}) {
    lin = register_module("lin", nn::Linear::create(3, 3));
    register_module("unused", nn::Linear::create(3, 2));
  }
  Value forward(Value x) { return lin(x); }
  nn::Ref<nn::Linear> lin;
};

class Outer : public nn::Custom<Outer> {
 public:
  Outer() : Custom("Outer", {"x"}) {
    a = register_module("a", Inner::create());
    b = register_module("b", nn::ReLU::create());
    w = register_parameter("w", Tensor::zeros({3}));
    buf = register_buffer("buf", Tensor::zeros({3}));
  }
  Value forward(Value x) { return b(a(x)) + w + buf; }
  nn::Ref<Inner> a;
  nn::Ref<nn::ReLU> b;
  nn::Parameter w;
  nn::Buffer buf;
};

nn::Ref<GraphModule> traced() {
  return symbolic_trace(filled(Outer::create()));
}

class Nested : public nn::Custom<Nested> {
 public:
  Nested() : Custom("Nested", {"x"}) { gm = register_module("gm", traced()); }
  Value forward(Value x) { return gm(x) * 2; }
  nn::Ref<GraphModule> gm;
};

class KeepGraphs : public fx::Tracer {
  bool is_leaf_module(const nn::Module& module,
                      std::string_view name) const override {
    return dynamic_cast<const GraphModule*>(&module) ||
           Tracer::is_leaf_module(module, name);
  }
};

Value names_of(const nn::Module& module) {
  ValueList names;
  for (const auto& [name, child] : module.named_modules())
    names.emplace_back(name);
  return Value::list(std::move(names));
}

Value state_names(const nn::Module& module) {
  ValueList names;
  for (const auto& [name, tensor] : module.state_dict())
    names.emplace_back(name);
  return Value::list(std::move(names));
}

MIRROR_CASE(ModuleApi, printed) {
  const auto gm = traced();
  expect_text("str", gm->str());
  expect_text("readable", gm->print_readable());
  expect_text("repr", filled(Outer::create())->repr());
}

MIRROR_CASE(ModuleApi, printed_with_shapes) {
  const auto gm = traced();
  for (NodePtr node : gm->graph().nodes())
    if (node->is(Opcode::call_module) || node->is(Opcode::placeholder))
      node->set_val(Tensor::meta({2, 3}, DType::f32));
  expect_text("readable", gm->print_readable());
  expect_text("strides", gm->print_readable(
                             {.include_stride = true, .include_device = true}));
  expect_text("expanded", gm->print_readable({.expanded_def = true}));
}

MIRROR_CASE(ModuleApi, nested_graph_modules) {
  const auto root = filled(Nested::create());
  const auto inlined = symbolic_trace(root);
  expect_graph(inlined);
  KeepGraphs tracer;
  const auto kept = GraphModule::create(*root, tracer.trace(*root), "Nested");
  expect_code(kept);
  expect_text("readable", kept->print_readable());
  expect_outputs(inlined, {fill({2, 3})});
}

MIRROR_CASE(ModuleApi, submodules) {
  const auto gm = traced();
  expect_value("added", gm->add_submodule("a.c.d", nn::Dropout::create(0.5)));
  expect_value("not below", gm->add_submodule("w.x", nn::ReLU::create()));
  expect_value("own", gm->add_submodule("e", nn::ReLU::create()));
  expect_value("names", names_of(*gm));
  expect_value("deleted", gm->delete_submodule("a.c.d"));
  expect_value("gone", gm->delete_submodule("a.c.d"));
  expect_value("parameter", gm->delete_submodule("w"));
  expect_value("no path", gm->delete_submodule("a.x.y"));
  gm->delete_all_unused_submodules();
  expect_value("left", names_of(*gm));
}

MIRROR_CASE(ModuleApi, getting_members) {
  const auto gm = traced();
  expect_text("module", gm->get_submodule("a.lin").repr());
  expect_error([&] { gm->get_submodule("a.nothing"); });
  expect_error([&] { gm->get_submodule("w"); });
  expect_error([&] { gm->get_parameter("a.lin.nothing"); });
  expect_error([&] { gm->get_parameter("buf"); });
  expect_error([&] { gm->get_buffer("w"); });
  expect_error([&] { gm->get_buffer("nothing"); });
  expect_value("state", state_names(*gm));
}

MIRROR_CASE(ModuleApi, missing_submodules) {
  const auto gm = traced();
  Graph& graph = gm->graph();
  expect_error([&] { graph.call_module("nothing"); });
  expect_error([&] { graph.call_module("a.lin.weight"); });
  expect_warning([&] { graph.get_attr("nothing"); });
  graph.erase_node(graph.find_nodes(Opcode::get_attr, "nothing")[0]);
  NodePtr call = nullptr;
  {
    const auto scope = graph.inserting_before(graph.output_node());
    call = graph.call_module("b");
  }
  for (const char* target : {"nothing", "a.nothing", "a.lin.weight", "w.x"}) {
    call->set_target(target);
    expect_error([&] { graph.lint(); });
  }
  graph.erase_node(call);
  expect_warning([&] { graph.erase_node(call); });
  {
    const auto scope = graph.inserting_before(graph.output_node());
    graph.create_node(Opcode::get_attr, "a.lin.nothing");
  }
  expect_error([&] { graph.lint(); });
}

MIRROR_CASE(ModuleApi, from_a_dict) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr w = graph->get_attr("foo.bar.baz");
  const NodePtr sum = graph->call_function("torch.add", {x, w});
  graph->output(graph->call_module("foo.lin", {sum}));
  const nn::ModuleRef lin = filled(nn::Linear::create(3, 2));
  const nn::AttributeMap members = {{"foo.lin", lin},
                                    {"foo.bar.baz", Value(fill({3}))}};
  auto other = graph->copy();
  const nn::Ref<GraphModule> gm(
      std::make_shared<GraphModule>(members, std::move(graph), "FromDict"));
  expect_code(gm);
  expect_text("str", gm->str());
  expect_outputs(gm, {fill({2, 3})});
  expect_error(
      [&] { GraphModule(nn::AttributeMap{members[0]}, std::move(other)); });
}

MIRROR_CASE(ModuleApi, from_another_root) {
  const auto gm = traced();
  expect_error(
      [&] { GraphModule(*nn::Linear::create(1, 1), gm->graph().copy()); });
  expect_text("str",
              GraphModule::create(*gm, gm->graph().copy(), "Again")->str());
}

MIRROR_CASE(ModuleApi, another_graph) {
  const auto gm = traced();
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  graph->output(graph->call_module("b", {x}));
  gm->set_graph(std::move(graph));
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(ModuleApi, edits_and_recompile) {
  const auto gm = traced();
  const std::string old = gm->code();
  const NodePtr b = gm->graph().find_nodes(Opcode::call_module, "b")[0];
  {
    const auto scope = gm->graph().inserting_after(b);
    b->replace_all_uses_with(
        gm->graph().call_function("torch.sigmoid", b->args()));
  }
  gm->graph().erase_node(b);
  expect_value("unchanged", gm->code() == old);
  gm->recompile();
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(ModuleApi, independent_copies) {
  const auto gm = traced();
  const auto made = gm->deep_copy();
  const Tensor w = made->get_parameter("w").tensor();
  w.copy_from((Value(w) + 1).as_tensor());
  const Tensor weight = made->get_parameter("a.lin.weight").tensor();
  weight.copy_from(Tensor::zeros({3, 3}));
  for (NodePtr node : made->graph().nodes()) {
    if (node->name() != "b") continue;
    node->replace_all_uses_with(node->arg_node(0));
    made->graph().erase_node(node);
  }
  made->recompile();
  expect_code(made);
  expect_code(gm);
  expect_outputs(made, {fill({2, 3})});
  expect_outputs(gm, {fill({2, 3})});
  expect_value("state", state_names(*made));
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
