// Recorder: branches and bodies of loops, and the calls of control flow that
// run them.
#include <algorithm>

#include "fxjit/error.h"
#include "fxjit/exported.h"
#include "src/import/onnx/recorder_proxy.h"

namespace fxjit::onnx {
namespace {

using fx::ControlFlow;

// The names of members and what a body gives, in torch's form.
std::vector<std::string> prefixes_of(ControlFlow kind) {
  switch (kind) {
    case ControlFlow::cond:
      return {"true_graph", "false_graph"};
    case ControlFlow::while_loop:
      return {"while_loop_cond_graph", "while_loop_body_graph"};
    case ControlFlow::scan:
      return {"scan_combine_graph"};
    case ControlFlow::associative_scan:
      return {"associative_scan_combine_graph"};
    case ControlFlow::map:
      return {"body_graph"};
  }
  return {};
}

Value output_of(ControlFlow kind, size_t body, const ValueList& nodes) {
  if (kind == ControlFlow::while_loop && body == 0) return nodes.at(0);
  return kind == ControlFlow::scan ? Value::list(nodes) : Value::tuple(nodes);
}

// Without what nobody reads, so that it is not passed either.
void clean(fx::TracedBody& body) {
  body.frame.graph->eliminate_dead_code();
  std::erase_if(body.frame.lifted, [&](const auto& entry) {
    if (!entry.second->users().empty()) return false;
    body.frame.graph->erase_node(entry.second);
    return true;
  });
}

nn::ModuleRef module_of(const fx::TracedBody& body,
                        const std::vector<fx::NodePtr>& lifted) {
  nn::AttributeMap members;
  for (const auto& [name, module] : body.frame.members)
    members.emplace_back(name, module);
  auto module = std::make_shared<fx::GraphModule>(
      members, fx::body_graph(body, lifted), "<lambda>");
  module->eval();
  return nn::ModuleRef(std::move(module));
}

Value meta_of(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& tensor = leaf.as_tensor();
    return Tensor::meta(tensor.sizes(), tensor.dtype());
  });
}

}  // namespace

Recorder::Known Recorder::known(const Value& value) {
  const Proxy* const proxy = proxy_of<Proxy>(value);
  if (!proxy) return {meta_of(value), kAllDims};
  return {meta_of(proxy->example_), proxy->fixed_dims_, proxy->guessed_};
}

fx::Graph& Recorder::graph() {
  return bodies_.empty() ? *graph_ : *bodies_.back()->frame.graph;
}

// What stands for `node` in the graph of the body with this number, the
// outermost graph being 0.
fx::NodePtr Recorder::reach(fx::NodePtr node, size_t level) {
  if (level == 0) return node;
  fx::BodyFrame& frame = bodies_[level - 1]->frame;
  if (&node->graph() == frame.graph.get()) return node;
  if (lists_.contains(node))
    throw UserError(
        "[onnx] a branch or body reads a sequence that is an input of the "
        "model, which is not supported");
  return fx::lift(frame, reach(node, level - 1));
}

Recorder::Body Recorder::record_body(const std::vector<Known>& inputs,
                                     const RunBody& run) {
  Body body;
  struct Scope {
    Scope(Recorder& recorder, fx::TracedBody& traced) : recorder_(recorder) {
      traced.frame.around = &recorder.graph();
      recorder.bodies_.push_back(&traced);
      recorder.numbers_.emplace_back();
    }
    ~Scope() {
      recorder_.bodies_.pop_back();
      recorder_.numbers_.pop_back();
    }
    Recorder& recorder_;
  } const scope(*this, body.traced);
  ValueList args;
  for (const Known& input : inputs) args.push_back(body_input(input));
  for (const Value& result : run(args))
    body.outputs.push_back(as_argument(result));
  return body;
}

Value Recorder::body_input(const Known& known) {
  fx::TracedBody& body = *bodies_.back();
  const fx::NodePtr node = body.frame.graph->placeholder(
      "arg" + std::to_string(body.inputs.size()) + "_1");
  body.inputs.push_back(node);
  return proxy(node, known.example, known.fixed_dims, known.guessed);
}

// The bodies as members, by their names.
std::vector<std::string> Recorder::add_bodies(
    ControlCall& call, const std::vector<fx::NodePtr>& lifted) {
  auto& members = bodies_.empty() ? members_ : bodies_.back()->frame.members;
  std::vector<std::string> names = prefixes_of(call.kind);
  const auto is_taken = [&](const std::string& name) {
    return (bodies_.empty() && attribute_names_.contains(name)) ||
           std::any_of(members.begin(), members.end(), [&](const auto& member) {
             return member.first == name;
           });
  };
  std::string number;
  for (int64_t i = 0; number.empty(); ++i) {
    const std::string one = "_" + std::to_string(i);
    if (std::none_of(names.begin(), names.end(), [&](const auto& prefix) {
          return is_taken(prefix + one);
        }))
      number = one;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    names[i] += number;
    if (bodies_.empty()) attribute_names_.insert(names[i]);
    members.emplace_back(names[i], module_of(call.bodies[i].traced, lifted));
  }
  return names;
}

ValueList Recorder::record_control(ControlCall call,
                                   const std::vector<Known>& results) {
  std::vector<fx::TracedBody*> bodies;
  for (size_t i = 0; i < call.bodies.size(); ++i) {
    Body& body = call.bodies[i];
    body.traced.frame.graph->output(output_of(call.kind, i, body.outputs));
    clean(body.traced);
    bodies.push_back(&body.traced);
  }
  const std::vector<fx::NodePtr> lifted = fx::merge_lifted(bodies);
  ValueList args;
  if (call.kind == ControlFlow::cond) args.push_back(as_argument(call.pred));
  for (const std::string& name : add_bodies(call, lifted))
    args.emplace_back(graph().create_node(fx::Opcode::get_attr, name, {}, {}));
  if (call.kind == ControlFlow::while_loop)
    args.push_back(as_argument(Value::tuple(call.carried)));
  if (call.kind == ControlFlow::scan)
    args.push_back(as_argument(Value::list(call.carried)));
  if (!call.xs.empty()) args.push_back(as_argument(Value::list(call.xs)));
  const ValueList operands(lifted.begin(), lifted.end());
  args.push_back(call.kind == ControlFlow::map ? Value::list(operands)
                                               : Value::tuple(operands));
  const fx::NodePtr node = graph().call_function(
      call.function ? *call.function : fx::control_function(call.kind),
      std::move(args), {}, origin_);
  pt2::set_stack_trace(node, trace_);
  ValueList made;
  for (size_t i = 0; i < results.size(); ++i)
    made.push_back(proxy(
        graph().call_function("_operator.getitem", {node, i}, {}, origin_),
        results[i].example, results[i].fixed_dims, results[i].guessed));
  return made;
}

}  // namespace fxjit::onnx
