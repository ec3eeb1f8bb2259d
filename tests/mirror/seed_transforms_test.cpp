// Edits and transforms of the documentation's and of articles' examples.
#include <map>
#include <numbers>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(SeedTransforms)

namespace {

using fx::Opcode;
using fx::symbolic_trace;

Value my_func(Value x) { return method(relu(x), "neg"); }
Value sigmoid_neg(Value x) { return method(sigmoid(x), "neg"); }

void replace_activation(fx::Graph& graph, const char* old_op,
                        const char* new_op) {
  for (fx::NodePtr n : graph.nodes()) {
    if (!n->is(Opcode::call_function) || n->target().pretty() != old_op)
      continue;
    const auto scope = graph.inserting_after(n);
    const fx::NodePtr new_n = graph.call_function(new_op, n->args());
    n->replace_all_uses_with(new_n);
    graph.erase_node(n);
  }
}

class LinearRelu : public nn::Custom<LinearRelu> {
 public:
  LinearRelu() : Custom("M", {"x"}) {
    linear = register_module("linear", nn::Linear::create(3, 10));
  }
  Value forward(Value x) { return nn::functional::relu(linear(x)); }
  nn::Ref<nn::Linear> linear;
};

class SampleModule : public nn::Custom<SampleModule> {
 public:
  explicit SampleModule(nn::ModuleRef traced) : Custom("SampleModule", {"x"}) {
    act = register_module("act", traced);
  }
  Value forward(Value x) { return act(x + std::numbers::pi); }
  nn::ModuleRef act;
};

// Both swap torch.sigmoid and Tensor.neg.
template <typename Base>
class NegSigmSwap : public Base {
 public:
  using Base::Base;
  Value call_function(const fx::Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
    if (target.text() == "torch.sigmoid") return neg(args.at(0));
    return Base::call_function(target, args, kwargs);
  }
  Value call_method(const fx::Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    if (target.text() == "neg") return method(args.at(0), "sigmoid");
    return Base::call_method(target, args, kwargs);
  }
};

}  // namespace

MIRROR_CASE(SeedTransforms, add_becomes_mul) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return add(x, y); }, {"x", "y"}, "M");
  const auto multiply =
      symbolic_trace([](Value x) -> Value { return mul(x, x); }, {"x"});
  const fx::Target product = multiply->graph().find_node("mul")->target();
  for (fx::NodePtr node : gm->graph().nodes())
    if (node->target_name() == "torch.add") node->set_target(product);
  gm->graph().lint();
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3}, 1), fill({3}, 2)});
}

MIRROR_CASE(SeedTransforms, decomposition) {
  const auto model = filled(LinearRelu::create());
  fx::Tracer tracer;
  const auto graph = tracer.trace(*model);
  auto new_graph = std::make_unique<fx::Graph>();
  std::map<const fx::Node*, fx::NodePtr> env;
  for (const fx::Node* node : graph->nodes()) {
    if (node->target_name() == "torch.nn.functional.relu") {
      const Value x = fx::proxy(env.at(node->arg_node(0)));
      env[node] = fx::node_of((x > 0) * x);
    } else {
      env[node] =
          new_graph->node_copy(*node, [&](fx::NodePtr n) { return env.at(n); });
    }
  }
  const auto gm = fx::GraphModule::create(*model, std::move(new_graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(SeedTransforms, replaced_activation) {
  const auto traced = symbolic_trace(my_func, {"x"});
  expect_graph(traced);
  replace_activation(traced->graph(), "torch.relu", "torch._C._nn.gelu");
  traced->recompile();
  expect_graph(traced);
  expect_code(traced);
  expect_outputs(traced, {fill({5})});
}

MIRROR_CASE(SeedTransforms, traced_module_within_a_module) {
  const auto act = symbolic_trace(my_func, {"x"});
  replace_activation(act->graph(), "torch.relu", "torch._C._nn.gelu");
  act->recompile();
  const auto traced = symbolic_trace(SampleModule::create(act));
  expect_graph(traced);
  expect_code(traced);
  expect_outputs(traced, {fill({5})});
}

MIRROR_CASE(SeedTransforms, swapping_interpreter) {
  const auto gm = symbolic_trace(sigmoid_neg, {"x"});
  NegSigmSwap<fx::Interpreter> interpreter(*gm);
  expect_value("result", interpreter.run({fill({3, 4})}));
  expect_outputs(gm, {fill({3, 4})});
}

MIRROR_CASE(SeedTransforms, swapping_transformer) {
  const auto gm = symbolic_trace(sigmoid_neg, {"x"});
  const auto transformed = NegSigmSwap<fx::Transformer>(gm).transform();
  expect_graph(transformed);
  expect_code(transformed);
  expect_outputs(transformed, {fill({3, 4})});
  expect_graph(gm);
}

MIRROR_CASE(SeedTransforms, copied_node_by_node) {
  const auto traced = symbolic_trace(my_func, {"x"});
  fx::Graph new_graph;
  std::map<const fx::Node*, fx::NodePtr> value_remap;
  for (const fx::Node* node : traced->graph().nodes())
    value_remap[node] = new_graph.node_copy(
        *node, [&](fx::NodePtr n) { return value_remap.at(n); });
  new_graph.lint();
  expect_graph(new_graph);
  expect_tabular(new_graph);
}

}  // namespace fxjit::mirror
