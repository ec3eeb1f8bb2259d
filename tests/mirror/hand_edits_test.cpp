// Whole edits that users write by hand: inlining, hoisting, merging, rewiring.
#include "fxjit/fx/subgraph_rewriter.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(HandEdits)

namespace TEST_FILE {

using fx::Graph;
using fx::GraphModule;
using fx::NodePtr;
using fx::Opcode;
using fx::symbolic_trace;
using fx::ValueMap;

class Mlp : public nn::Custom<Mlp> {
 public:
  Mlp() : Custom("Mlp", {"x"}) {
    up = register_module("up", nn::Linear::create(3, 4));
    act = register_module("act", nn::ReLU::create());
    down = register_module("down", nn::Linear::create(4, 3));
    drop = register_module("drop", nn::Dropout::create(0.5));
  }
  Value forward(Value x) { return drop(down(act(up(x)))) + x; }
  nn::Ref<nn::Linear> up;
  nn::Ref<nn::ReLU> act;
  nn::Ref<nn::Linear> down;
  nn::Ref<nn::Dropout> drop;
};

nn::Ref<GraphModule> traced() { return symbolic_trace(filled(Mlp::create())); }

class Inlined : public nn::Custom<Inlined> {
 public:
  Inlined() : Custom("Outer", {"x"}) {
    body = register_module(
        "body",
        symbolic_trace([](Value x) -> Value { return sigmoid(x) * 2; }, {"x"}));
  }
  Value forward(Value x) { return body(x) + 1; }
  nn::Ref<GraphModule> body;
};

class KeepModules : public fx::Tracer {
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return true;
  }
};

std::vector<NodePtr> calls_of(const nn::Ref<GraphModule>& gm, Opcode op) {
  return gm->graph().find_nodes(op);
}

nn::Ref<GraphModule> module_of(std::unique_ptr<Graph> graph) {
  return GraphModule::create(nn::Module("Module"), std::move(graph));
}

ValueList child_names(const nn::Module& module) {
  ValueList names;
  for (const auto& [name, child] : module.children()) names.emplace_back(name);
  return names;
}

Value negated(const Value& x) { return function("torch.neg", {x}); }

MIRROR_CASE(HandEdits, dropout_taken_out) {
  const auto gm = traced();
  for (NodePtr node : calls_of(gm, Opcode::call_module)) {
    const nn::Module& called = gm->get_submodule(node->target_name());
    if (!dynamic_cast<const nn::Dropout*>(&called)) continue;
    node->replace_all_uses_with(node->arg_node(0));
    gm->graph().erase_node(node);
  }
  gm->delete_all_unused_submodules();
  gm->recompile();
  expect_text("module", gm->str());
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(HandEdits, layers_as_functions) {
  const auto gm = traced();
  Graph& graph = gm->graph();
  for (NodePtr node : calls_of(gm, Opcode::call_module)) {
    const std::string target(node->target_name());
    if (target != "up" && target != "down") continue;
    const auto point = graph.inserting_before(node);
    const NodePtr weight = graph.get_attr(target + ".weight");
    const NodePtr bias = graph.get_attr(target + ".bias");
    node->replace_all_uses_with(graph.call_function(
        "torch._C._nn.linear", {node->arg(0), weight, bias}));
    graph.erase_node(node);
  }
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(HandEdits, module_put_in) {
  const auto gm = traced();
  gm->add_submodule("extra.tanh", nn::Tanh::create());
  const NodePtr act = gm->graph().find_node("act");
  {
    const auto point = gm->graph().inserting_after(act);
    const NodePtr added = gm->graph().call_module("extra.tanh", {act});
    act->replace_all_uses_with(added,
                               [&](NodePtr user) { return user != added; });
  }
  gm->recompile();
  expect_graph(gm);
  expect_text("module", gm->str());
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(HandEdits, function_inlined_by_hand) {
  const auto inner = symbolic_trace(
      [](Value a, Value b) -> Value {
        const Value left = relu(a) - b;
        return Value::tuple({left, b * 2});
      },
      {"a", "b"});
  const std::vector<NodePtr> inputs = inner->graph().placeholders();
  auto outer = std::make_unique<Graph>();
  const NodePtr x = outer->placeholder("x");
  const NodePtr y = outer->placeholder("y");
  const NodePtr total = outer->call_function("operator.add", {x, y});
  ValueMap values{{inputs[0], total}, {inputs[1], x}};
  const Value pair = outer->graph_copy(inner->graph(), values);
  ValueMap again{{inputs[0], pair.at(1)}, {inputs[1], pair.at(0)}};
  outer->output(outer->graph_copy(inner->graph(), again));
  outer->lint();
  const auto gm = module_of(std::move(outer));
  expect_graph(gm);
  expect_outputs(gm, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(HandEdits, submodule_inlined_by_hand) {
  const auto root = Inlined::create();
  KeepModules tracer;
  const auto gm = GraphModule::create(*root, tracer.trace(*root));
  expect_graph(gm);
  const NodePtr call = gm->graph().find_node("body");
  const Graph& body = root->body->graph();
  ValueMap values{{body.placeholders()[0], call->arg(0)}};
  {
    const auto point = gm->graph().inserting_before(call);
    call->replace_all_uses_with(gm->graph().graph_copy(body, values).as_node());
  }
  gm->graph().erase_node(call);
  gm->delete_all_unused_submodules();
  gm->recompile();
  expect_graph(gm);
  expect_value("children", gm->children().size());
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(HandEdits, two_graphs_side_by_side) {
  const auto first =
      symbolic_trace([](Value x) -> Value { return relu(x) + 1; }, {"x"});
  const auto second =
      symbolic_trace([](Value y) -> Value { return negated(y) * 3; }, {"y"});
  auto joined = std::make_unique<Graph>();
  ValueList results;
  for (const auto& gm : {first, second}) {
    ValueMap values;
    results.push_back(joined->graph_copy(gm->graph(), values));
  }
  joined->output(Value::tuple(results));
  const auto made = module_of(std::move(joined));
  expect_graph(made);
  expect_code(made);
  expect_outputs(made, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(HandEdits, outputs_added_and_dropped) {
  const auto gm = traced();
  const NodePtr output = gm->graph().output_node();
  const NodePtr act = gm->graph().find_node("act");
  output->set_args({Value::tuple({output->arg(0), act})});
  gm->recompile();
  expect_outputs(gm, {fill({2, 3})});
  output->set_args({output->arg(0).at(1)});
  expect_value("removed", gm->graph().eliminate_dead_code());
  gm->recompile();
  expect_graph(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(HandEdits, inputs_added) {
  const auto gm =
      symbolic_trace([](Value x) -> Value { return relu(x); }, {"x"});
  Graph& graph = gm->graph();
  NodePtr scale = nullptr;
  {
    const auto point = graph.inserting_after(graph.find_node("x"));
    scale = graph.placeholder("scale", {}, Value(2.0));
  }
  const NodePtr output = graph.output_node();
  {
    const auto point = graph.inserting_before(output);
    const Value scaled = fx::proxy(graph.find_node("relu")) * fx::proxy(scale);
    output->set_args({fx::node_of(scaled)});
  }
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3})});
  expect_outputs(gm, {fill({3}), 0.5});
}

MIRROR_CASE(HandEdits, constants_hoisted) {
  const auto gm =
      symbolic_trace([](Value x) -> Value { return (x * 3 + 1) / 3; }, {"x"});
  gm->register_buffer("three", Tensor::full({1}, 3));
  Graph& graph = gm->graph();
  NodePtr three = nullptr;
  {
    const auto point = graph.inserting_before(graph.nodes().front()->next());
    three = graph.get_attr("three");
  }
  for (NodePtr node : graph.nodes()) {
    ValueList args = node->args();
    for (Value& arg : args)
      if (same(arg, 3)) arg = three;
    node->set_args(args);
  }
  gm->recompile();
  expect_graph(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(HandEdits, operands_swapped) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        return function("torch.sub", {x, y}) - y;
      },
      {"x", "y"});
  for (NodePtr node : calls_of(gm, Opcode::call_function))
    node->set_args({node->args().rbegin(), node->args().rend()});
  gm->recompile();
  expect_graph(gm);
  expect_outputs(gm, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(HandEdits, methods_for_functions) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return sigmoid(negated(x)); }, {"x"});
  Graph& graph = gm->graph();
  for (NodePtr node : calls_of(gm, Opcode::call_function)) {
    const std::string_view target = node->target_name();
    const auto point = graph.inserting_before(node);
    node->replace_all_uses_with(graph.call_method(
        target.substr(target.rfind('.') + 1), node->args(), node->kwargs()));
    graph.erase_node(node);
  }
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(HandEdits, repeated_halves) {
  const auto gm =
      symbolic_trace([](Value x) -> Value { return tanh(x) + 0.5; }, {"x"});
  auto graph = gm->graph().copy();
  for (int i = 0; i < 2; ++i) {
    const NodePtr output = graph->output_node();
    const auto point = graph->inserting_before(output);
    ValueMap values{{gm->graph().nodes().front(), output->arg(0)}};
    output->set_args({graph->graph_copy(gm->graph(), values)});
  }
  const auto made = GraphModule::create(*gm, std::move(graph));
  expect_graph(made);
  expect_outputs(made, {fill({3})});
}

MIRROR_CASE(HandEdits, nodes_sunk_to_their_users) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value a = relu(x);
        const Value b = negated(x);
        const Value c = tanh(x);
        return (c + b) * a;
      },
      {"x"});
  for (NodePtr node : gm->graph().nodes().reversed().list())
    if (node->num_users() == 1 && node->is(Opcode::call_function))
      (*node->users().begin())->prepend(node);
  gm->graph().lint();
  gm->recompile();
  expect_graph(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(HandEdits, checked_after_each_call) {
  const auto gm =
      symbolic_trace([](Value x) -> Value { return relu(x) * 2; }, {"x"});
  Graph& graph = gm->graph();
  for (NodePtr node : calls_of(gm, Opcode::call_function)) {
    const std::string text = std::string(node->name()) + " has dim 1";
    const auto behind = graph.inserting_after(node);
    const NodePtr size = graph.call_method("dim", {node});
    const auto behind_size = graph.inserting_after(size);
    const NodePtr right = graph.call_function("operator.eq", {size, 1});
    const auto behind_right = graph.inserting_after(right);
    graph.call_function("torch._assert", {right, text});
  }
  graph.eliminate_dead_code();
  gm->recompile();
  expect_graph(gm);
  expect_value("result", gm->call({fill({3})}));
  expect_error([&] { gm->call({fill({3, 1})}); }, "\n");
}

MIRROR_CASE(HandEdits, rewritten_until_nothing_matches) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return negated(negated(negated(negated(x)))) + 1;
      },
      {"x"});
  ValueList rounds;
  size_t found = 0;
  do {
    found = fx::replace_pattern(
                *gm, [](Value x) -> Value { return negated(negated(x)); },
                [](Value x) -> Value { return relu(x); })
                .size();
    rounds.emplace_back(found);
  } while (found > 0);
  expect_value("rounds", rounds);
  expect_graph(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(HandEdits, copies_edited_apart) {
  const auto gm = traced();
  const auto other = gm->deep_copy();
  Graph& graph = other->graph();
  graph.find_node("act")->replace_all_uses_with(graph.find_node("up"));
  graph.eliminate_dead_code();
  other->delete_all_unused_submodules();
  other->recompile();
  expect_value("children", Value::list({Value::list(child_names(*gm)),
                                        Value::list(child_names(*other))}));
  expect_outputs(gm, {fill({2, 3})});
  expect_outputs(other, {fill({2, 3})});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
