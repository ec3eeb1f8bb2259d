#include "src/fx/control_flow/trace_body.h"

#include <algorithm>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/tracer.h"
#include "src/fx/graph_module/module_members.h"

namespace fxjit::fx {
namespace {

bool uses(const TracedBody& body, NodePtr outside) {
  return std::any_of(
      body.frame.lifted.begin(), body.frame.lifted.end(),
      [&](const auto& entry) { return entry.first == outside; });
}

bool is_taken(const TracerBase& tracer, const std::string& name) {
  if (tracer.bodies().empty()) return has_member(*tracer.owner(), name);
  const auto& members = tracer.bodies().back()->members;
  return std::any_of(members.begin(), members.end(),
                     [&](const auto& member) { return member.first == name; });
}

nn::ModuleRef finish(const TracerBase& tracer, const TracedBody& body,
                     const std::vector<NodePtr>& lifted) {
  std::unique_ptr<Graph> graph = body_graph(body, lifted);
  nn::AttributeMap members;
  for (const auto& [name, module] : body.frame.members)
    members.emplace_back(name, module);
  for (const Node* node : graph->nodes()) {
    if (!node->is(Opcode::call_module) && !node->is(Opcode::get_attr)) continue;
    const std::string target(node->target_name());
    nn::Member member = tracer.owner()->find_member(target);
    const bool own = std::any_of(
        body.frame.members.begin(), body.frame.members.end(),
        [&](const auto& known) { return known.first == target; });
    if (!own && !std::holds_alternative<std::monostate>(member))
      members.emplace_back(target, std::move(member));
  }
  auto module = std::make_shared<GraphModule>(members, std::move(graph),
                                              "<lambda>");
  module->train(tracer.owner()->training());
  return nn::ModuleRef(std::move(module));
}

void add_member(TracerBase& tracer, const std::string& name,
                nn::ModuleRef module) {
  if (!tracer.bodies().empty()) {
    tracer.bodies().back()->members.emplace_back(name, std::move(module));
    return;
  }
  tracer.owner()->register_module(name, std::move(module));
  if (auto* const tracing = dynamic_cast<Tracer*>(&tracer))
    tracing->added_bodies.push_back(name);
}

}  // namespace

TracerBase* recorder_of(const ValueList& values) {
  TracerBase* found = nullptr;
  for (const Value& value : values)
    visit_leaves(value, [&](const Value& leaf) {
      if (found || !leaf.is_proxy()) return;
      auto* const proxy = dynamic_cast<Proxy*>(leaf.as_proxy());
      if (!proxy)
        throw NotImplementedError(
            "control flow with C++ functions as branches and bodies cannot be "
            "compiled inside of a module that is called whole");
      found = &proxy->tracer();
    });
  return found ? found : active_tracer();
}

TracedBody trace_body(TracerBase& tracer, const ValueList& inputs,
                      const std::function<Value(ValueList)>& run,
                      const std::function<Value(ValueList)>& output) {
  if (!tracer.owner())
    throw RuntimeError(
        "control flow is recorded in graphs that a module owns: its branches "
        "and bodies become members");
  TracedBody body;
  const BodyScope scope(tracer, body.frame);
  ValueList args;
  for (const Value& input : inputs) {
    const NodePtr made = tracer.graph->placeholder(
        "arg" + std::to_string(body.inputs.size()) + "_1");
    if (input.is_node()) body.frame.given.emplace_back(input.as_node(), made);
    body.inputs.push_back(made);
    args.push_back(tracer.proxy(made));
  }
  auto [leaves, spec] = tree_flatten(run(std::move(args)));
  body.result = std::move(spec);
  for (Value& leaf : leaves) leaf = tracer.create_arg(leaf);
  tracer.graph->output(output(std::move(leaves)));
  return body;
}

std::vector<NodePtr> merge_lifted(const std::vector<TracedBody*>& bodies) {
  std::vector<NodePtr> merged;
  const auto by_name = [](NodePtr a, NodePtr b) { return a->name() < b->name(); };
  const auto add = [&](const TracedBody& body, bool shared) {
    std::vector<NodePtr> found;
    for (const auto& [outside, inside] : body.frame.lifted) {
      const auto users = std::count_if(
          bodies.begin(), bodies.end(),
          [&](const TracedBody* other) { return uses(*other, outside); });
      if ((users > 1) == shared) found.push_back(outside);
    }
    std::sort(found.begin(), found.end(), by_name);
    merged.insert(merged.end(), found.begin(), found.end());
  };
  add(*bodies[0], true);
  for (const TracedBody* body : bodies) add(*body, false);
  return merged;
}

std::unique_ptr<Graph> body_graph(const TracedBody& body,
                                  const std::vector<NodePtr>& lifted) {
  auto graph = std::make_unique<Graph>();
  ValueMap map;
  size_t count = 0;
  const auto add = [&] {
    return graph->placeholder("arg" + std::to_string(count++) + "_1");
  };
  for (const NodePtr input : body.inputs) map.emplace(input, add());
  for (const NodePtr outside : lifted) {
    const NodePtr made = add();
    for (const auto& [from, placeholder] : body.frame.lifted)
      if (from == outside) map.emplace(placeholder, made);
  }
  const Value result = graph->graph_copy(*body.frame.graph, map);
  graph->output(result);
  return graph;
}

std::vector<Value> add_bodies(TracerBase& tracer,
                              const std::vector<TracedBody*>& bodies,
                              const std::vector<NodePtr>& lifted,
                              const std::vector<std::string>& prefixes) {
  int64_t number = 0;
  const auto name = [&](const std::string& prefix) {
    return prefix + "_" + std::to_string(number);
  };
  while (std::any_of(prefixes.begin(), prefixes.end(), [&](const auto& prefix) {
    return is_taken(tracer, name(prefix));
  }))
    ++number;
  for (size_t i = 0; i < bodies.size(); ++i)
    add_member(tracer, name(prefixes[i]), finish(tracer, *bodies[i], lifted));
  std::vector<Value> nodes;
  for (const std::string& prefix : prefixes)
    nodes.emplace_back(
        tracer.create_node(Opcode::get_attr, name(prefix), {}, {}));
  return nodes;
}

Value record_call(TracerBase& tracer, ControlFlow kind, ValueList args,
                  const TreeSpec& result) {
  const Value made = tracer.create_proxy(
      Opcode::call_function, control_function(kind), std::move(args), {});
  return tree_unflatten(unpack(made, result.num_leaves(), tracer.source()),
                        result);
}

}  // namespace fxjit::fx
