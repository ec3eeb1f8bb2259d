// Small models whose graphs are edited, copied and run in another way.
#include <map>
#include <numbers>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(ExampleEdits)

namespace TEST_FILE {

using fx::Opcode;
using fx::symbolic_trace;

Value penalty(Value error) {
  return method(abs(error), "mean", {}, {{"dim", -1}});
}
Value phase(Value t) { return method(sin(t), "cos"); }

void replace_function(fx::Graph& graph, const char* old, const char* other) {
  for (fx::NodePtr node : graph.nodes()) {
    if (!node->is(Opcode::call_function) || node->target().pretty() != old)
      continue;
    const auto scope = graph.inserting_after(node);
    const fx::NodePtr call = graph.call_function(other, node->args());
    node->replace_all_uses_with(call);
    graph.erase_node(node);
  }
}

class GatedUnit : public nn::Custom<GatedUnit> {
 public:
  GatedUnit() : Custom("GatedUnit", {"x"}) {
    up = register_module("up", nn::Linear::create(3, 10));
    gate = register_module("gate", nn::Linear::create(3, 10));
  }
  Value forward(Value x) {
    const Value open = nn::functional::silu(up(x));
    return open * gate(x);
  }
  nn::Ref<nn::Linear> up, gate;
};

class Fit : public nn::Custom<Fit> {
 public:
  explicit Fit(nn::ModuleRef traced) : Custom("Fit", {"x"}) {
    penalty = register_module("penalty", traced);
  }
  Value forward(Value x) { return penalty(x - std::numbers::e); }
  nn::ModuleRef penalty;
};

// Takes a cosine for torch.sin and a sine for Tensor.cos.
template <typename Base>
class QuarterPhase : public Base {
 public:
  using Base::Base;
  Value call_function(const fx::Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
    if (target.text() == "torch.sin") return cos(args.at(0));
    return Base::call_function(target, args, kwargs);
  }
  Value call_method(const fx::Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    if (target.text() == "cos") return method(args.at(0), "sin");
    return Base::call_method(target, args, kwargs);
  }
};

MIRROR_CASE(ExampleEdits, all_sensors_become_any) {
  const auto gm = symbolic_trace(
      [](Value smoke, Value heat, Value gas) -> Value {
        return minimum(minimum(smoke, heat), gas);
      },
      {"smoke", "heat", "gas"}, "Alarm");
  for (fx::NodePtr node : gm->graph().nodes())
    if (node->target_name() == "torch.minimum")
      node->set_target("torch.maximum");
  gm->graph().lint();
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3}, 1), fill({3}, 2), fill({3}, 3)});
}

MIRROR_CASE(ExampleEdits, decomposition) {
  const auto model = filled(GatedUnit::create());
  fx::Tracer tracer;
  const auto graph = tracer.trace(*model);
  auto new_graph = std::make_unique<fx::Graph>();
  std::map<const fx::Node*, fx::NodePtr> new_node;
  for (const fx::Node* node : graph->nodes()) {
    if (node->target_name() == "torch.nn.functional.silu") {
      const Value x = fx::proxy(new_node.at(node->arg_node(0)));
      new_node[node] = fx::node_of(x * sigmoid(x));
    } else {
      new_node[node] = new_graph->node_copy(
          *node, [&](fx::NodePtr n) { return new_node.at(n); });
    }
  }
  const auto gm = fx::GraphModule::create(*model, std::move(new_graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(ExampleEdits, replaced_function) {
  const auto traced = symbolic_trace(penalty, {"error"});
  expect_graph(traced);
  replace_function(traced->graph(), "torch.abs", "torch.square");
  traced->recompile();
  expect_graph(traced);
  expect_code(traced);
  expect_outputs(traced, {fill({2, 5})});
}

MIRROR_CASE(ExampleEdits, traced_module_within_a_module) {
  const auto squared = symbolic_trace(penalty, {"error"});
  replace_function(squared->graph(), "torch.abs", "torch.square");
  squared->recompile();
  const auto traced = symbolic_trace(Fit::create(squared));
  expect_graph(traced);
  expect_code(traced);
  expect_outputs(traced, {fill({2, 5})});
}

MIRROR_CASE(ExampleEdits, swapping_interpreter) {
  const auto gm = symbolic_trace(phase, {"t"});
  QuarterPhase<fx::Interpreter> interpreter(*gm);
  expect_value("result", interpreter.run({fill({3, 4})}));
  expect_outputs(gm, {fill({3, 4})});
}

MIRROR_CASE(ExampleEdits, swapping_transformer) {
  const auto gm = symbolic_trace(phase, {"t"});
  const auto transformed = QuarterPhase<fx::Transformer>(gm).transform();
  expect_graph(transformed);
  expect_code(transformed);
  expect_outputs(transformed, {fill({3, 4})});
  expect_graph(gm);
}

MIRROR_CASE(ExampleEdits, copied_node_by_node) {
  const auto traced = symbolic_trace(penalty, {"error"});
  fx::Graph new_graph;
  std::map<const fx::Node*, fx::NodePtr> new_node;
  for (const fx::Node* node : traced->graph().nodes())
    new_node[node] = new_graph.node_copy(
        *node, [&](fx::NodePtr n) { return new_node.at(n); });
  new_graph.lint();
  expect_graph(new_graph);
  expect_tabular(new_graph);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
