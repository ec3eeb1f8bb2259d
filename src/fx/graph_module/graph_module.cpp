#include "fxjit/fx/graph_module.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "fxjit/fx/interpreter.h"
#include "fxjit/fx/tracer.h"
#include "src/fx/control_flow/functions.h"
#include "src/fx/graph/node_hooks.h"
#include "src/fx/graph_module/running_graph.h"
#include "src/fx/graph_module/submodules.h"
#include "src/nn/member_value.h"

namespace fxjit::fx {
namespace {

// Sets `name` of `module`, whatever it was before.
void set_member(nn::Module& module, const std::string& name,
                const nn::Member& member) {
  if (!std::holds_alternative<nn::ModuleRef>(member))
    module.remove_member(name);
  const auto* const value = std::get_if<Value>(&member);
  // As torch: a tensor that is no parameter becomes a buffer.
  if (value && value->is_tensor())
    module.register_buffer(name, value->as_tensor());
  else
    nn::register_member(module, name, member);
}

[[noreturn]] void throw_no_attribute(const nn::Module& module,
                                     const std::string& name,
                                     const Node& node) {
  throw AttributeError(
      "'" + module.type_name() + "' object has no attribute '" + name + "'",
      node.error_context());
}

// All lines but the first moved right by four; blank lines become empty.
std::string indented(const std::string& text) {
  std::string out;
  for (size_t at = 0, end = 0; end != text.npos; at = end + 1) {
    end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (at > 0) out += '\n';
    if (line.find_first_not_of(' ') == line.npos) continue;
    out += (at > 0 ? "    " : "") + line;
  }
  return out;
}

bool holds_proxy(std::span<const Value> values) {
  bool found = false;
  for (const Value& value : values)
    visit_leaves(value,
                 [&](const Value& leaf) { found = found || leaf.is_proxy(); });
  return found;
}

}  // namespace

// Native forwards that another has replaced are emptied, but stay until
// `recompile`: a call may still be inside one. Counting calls in and out would
// cost each of them two contended writes.
struct GraphModule::NativeOwners {
  std::mutex mutex;
  std::vector<std::shared_ptr<NativeForward>> list;
};

GraphModule::GraphModule(std::unique_ptr<Graph> graph, std::string class_name)
    : Module(std::move(class_name)),
      graph_(std::move(graph)),
      native_owners_(std::make_unique<NativeOwners>()) {
  if (!graph_)
    throw AttributeError("'NoneType' object has no attribute 'nodes'");
  graph_->set_owning_module(this);
}

GraphModule::GraphModule(const nn::Module& root, std::unique_ptr<Graph> graph,
                         std::string class_name)
    : GraphModule(std::move(graph), std::move(class_name)) {
  train(root.training());
  for (const Node* node : graph_->nodes())
    if (refers_to_module(*node)) copy_attribute(root, *node);
  recompile();
}

GraphModule::GraphModule(const nn::AttributeMap& root,
                         std::unique_ptr<Graph> graph, std::string class_name)
    : GraphModule(std::move(graph), std::move(class_name)) {
  std::unordered_map<std::string_view, const nn::Member*> members;
  for (const auto& [name, member] : root) members[name] = &member;
  std::vector<std::string_view> targets;
  for (const Node* node : graph_->nodes()) {
    if (!refers_to_module(*node)) continue;
    if (!members.contains(node->target_name()))
      throw RuntimeError("Node " + std::string(node->name()) +
                             " referenced target " +
                             std::string(node->target_name()) +
                             " but that target was not provided in ``root``!",
                         node->error_context());
    targets.push_back(node->target_name());
  }
  // Outer ones first: "foo.bar" must not replace what "foo.bar.baz" made.
  std::stable_sort(targets.begin(), targets.end(), [](auto a, auto b) {
    return std::count(a.begin(), a.end(), '.') <
           std::count(b.begin(), b.end(), '.');
  });
  for (std::string_view target : targets)
    assign_attribute(target, *members[target]);
  recompile();
}

GraphModule::~GraphModule() = default;

nn::Ref<GraphModule> GraphModule::create(const nn::Module& root,
                                         std::unique_ptr<Graph> graph,
                                         std::string class_name) {
  return std::make_shared<GraphModule>(root, std::move(graph),
                                       std::move(class_name));
}

void GraphModule::copy_attribute(const nn::Module& root, const Node& node) {
  const nn::Module* from = &root;
  nn::Module* to = this;
  std::string_view path = node.target_name();
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    const std::string name(path.substr(0, dot));
    const nn::Member member = from->find_member(name);
    const auto* const inner = std::get_if<nn::ModuleRef>(&member);
    if (!inner || !*inner) throw_no_attribute(*from, name, node);
    from = inner->get();
    to = child_or_new(*to, name);
    if (!to) throw_no_attribute(*from, name, node);
    if (to == from) return;  // A parent is shared: so is all below it.
    path.remove_prefix(dot + 1);
  }
  const std::string name(path);
  const nn::Member member = from->find_member(name);
  if (std::holds_alternative<std::monostate>(member))
    throw_no_attribute(*from, name, node);
  set_member(*to, name, member);
}

void GraphModule::assign_attribute(std::string_view target,
                                   const nn::Member& member) {
  nn::Module* const to = owner_or_new(*this, target);
  if (!to)
    throw UserError("[graph module] attribute " + std::string(target) +
                    ": expected a module on its path, got another member");
  set_member(*to, std::string(target), member);
}

void GraphModule::set_graph(std::unique_ptr<Graph> graph) {
  if (!graph)
    throw AssertionError(
        "Expected a Graph instance, but got <class 'NoneType'>");
  graph->lint(this);
  // SyntaxError for placeholders that make no function, before anything
  // changes.
  const RunningGraph accepted(*graph);
  running_.reset();
  if (graph_->hooks_) graph->hooks_ = std::move(graph_->hooks_);
  graph_ = std::move(graph);
  graph_->set_owning_module(this);
  recompile();
}

void GraphModule::recompile() {
  graph_->lint();
  auto running = std::make_unique<RunningGraph>(*graph_);
  set_native_forward(nullptr);
  {
    // No call runs beside us, so nobody is inside the old native code.
    std::lock_guard lock(native_owners_->mutex);
    native_owners_->list.clear();
  }
  running_ = std::move(running);
  graph_->freeze();
}

void GraphModule::keep_running_graph() { running_->keep(graph_->copy()); }

const PythonCode& GraphModule::python_code() const {
  return running_->python_code();
}

std::string GraphModule::print_readable(const CodeOptions& options) const {
  return readable_as(type_name(), options);
}

std::string GraphModule::readable_as(const std::string& name,
                                     const CodeOptions& options) const {
  CodeOptions verbose = options;
  verbose.verbose = true;
  std::string code = graph_->python_code("self", verbose).src;
  code.erase(0, code.find_first_not_of('\n'));
  std::string nested;
  for (const auto& [child_name, child] : children())
    if (const auto* module = dynamic_cast<const GraphModule*>(child.get()))
      nested += "\n" + module->readable_as(child_name, options);
  return indented("class " + name + "(torch.nn.Module):\n" + code) +
         indented(nested);
}

std::string GraphModule::str() const {
  return repr() + "\n" + code() +
         "\n# To see more debug info, please use "
         "`graph_module.print_readable()`";
}

nn::Ref<GraphModule> GraphModule::copy() const {
  auto made = GraphModule::create(*this, graph_->copy());
  made->tracer_name_ = tracer_name_;
  if (graph_->hooks_)
    made->graph_->hooks_ = std::make_unique<NodeHooks>(*graph_->hooks_);
  for (const Node* node : graph_->nodes()) {
    if (!node->is(Opcode::call_module) && !node->is(Opcode::get_attr)) continue;
    const std::string path(node->target_name());
    const auto* nested = dynamic_cast<const GraphModule*>(find_submodule(path));
    const size_t dot = path.rfind('.');
    const std::string parent = dot == path.npos ? "" : path.substr(0, dot);
    nn::Module* const owner = made->find_submodule(parent);
    // Below a shared module everything is shared.
    if (!nested || owner == find_submodule(parent)) continue;
    const std::string name = path.substr(dot + 1);
    if (owner->find_submodule(name) == nested)
      owner->register_module(name, nested->copy());
  }
  return made;
}

GraphModule::GraphModule(const GraphModule& other)
    : Module(other),
      graph_(other.graph_->copy()),
      tracer_name_(other.tracer_name_),
      native_owners_(std::make_unique<NativeOwners>()) {
  if (other.graph_->hooks_)
    graph_->hooks_ = std::make_unique<NodeHooks>(*other.graph_->hooks_);
  graph_->set_owning_module(this);
  set_type_name("GraphModule");  // As torch's copies.
  recompile();
}

std::shared_ptr<nn::Module> GraphModule::clone() const {
  return std::shared_ptr<GraphModule>(new GraphModule(*this));
}

nn::Ref<GraphModule> GraphModule::deep_copy() const {
  return nn::deep_copy_as(*this);
}

HookId GraphModule::register_create_node_hook(NodeHooks::Create hook) {
  return graph_->hooks().add_create(std::move(hook));
}

HookId GraphModule::register_erase_node_hook(NodeHooks::Erase hook) {
  return graph_->hooks().add_erase(std::move(hook));
}

HookId GraphModule::register_replace_node_hook(NodeHooks::Replace hook) {
  return graph_->hooks().add_replace(std::move(hook));
}

void GraphModule::unregister_node_hook(HookId id) {
  graph_->hooks().remove(id);
}

void GraphModule::set_native_forward(std::shared_ptr<NativeForward> native) {
  std::lock_guard lock(native_owners_->mutex);
  native_.store(native.get(), std::memory_order_release);
  if (native) native_owners_->list.push_back(std::move(native));
}

Value GraphModule::interpret(std::span<const Value> inputs) const {
  const std::vector<NodePtr>& placeholders = running_->placeholders();
  if (inputs.size() != placeholders.size())
    throw RuntimeError("[interpret] inputs: expected " +
                       std::to_string(placeholders.size()) + ", got " +
                       std::to_string(inputs.size()));
  Interpreter interpreter(*this, running_->graph(), &running_->plan());
  interpreter.extra_traceback = false;  // As torch's generated code.
  for (size_t i = 0; i < inputs.size(); ++i)
    interpreter.env.set(*placeholders[i], inputs[i]);
  return interpreter.run_nodes();
}

std::vector<Value> GraphModule::bind_inputs(const ValueList& args,
                                            const Kwargs& kwargs) const {
  return running_->signature().bind(args, kwargs, "forward");
}

const nn::Signature& GraphModule::signature() const {
  const nn::Signature* const own = running_->graph().codegen().signature();
  return own ? *own : running_->signature();
}

Value GraphModule::invoke(const ValueList& args, const Kwargs& kwargs) {
  const CodeGen& codegen = running_->graph().codegen();
  if (const nn::Signature* own = codegen.signature())
    return run_inputs(
        codegen.process_inputs(own->bind(args, kwargs, "forward")));
  if (running_->graph().has_codegen())
    return run_inputs(bind_inputs(codegen.process_inputs(args), kwargs));
  if (kwargs.empty() && running_->takes_directly(args.size()))
    return run_inputs(args);
  return run_inputs(bind_inputs(args, kwargs));
}

Value GraphModule::invoke_bound(std::vector<Value> inputs) {
  const CodeGen& codegen = running_->graph().codegen();
  if (codegen.signature()) inputs = codegen.process_inputs(std::move(inputs));
  return run_inputs(inputs);
}

Value GraphModule::run_inputs(std::span<const Value> inputs) {
  Value result;
  NativeForward* const native = native_forward();
  if (!native || active_tracer() || holds_proxy(inputs) ||
      !native->run(inputs, &result)) {
    const LoopLimitsScope limits(native ? native->limits() : nullptr);
    result = interpret(inputs);
  }
  const Graph& graph = running_->graph();
  return graph.has_codegen()
             ? graph.codegen().process_outputs(std::move(result))
             : result;
}

}  // namespace fxjit::fx
