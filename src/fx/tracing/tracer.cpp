#include "fxjit/fx/tracer.h"

#include "fxjit/fx/pytree_codegen.h"
#include "fxjit/fx/symbolic_trace.h"
#include "src/fx/control_flow/body_frame.h"
#include "src/fx/graph_module/module_members.h"
#include "src/nn/member_value.h"

namespace fxjit::fx {
namespace {

thread_local Tracer* current_tracer = nullptr;

// A handle that owns nothing unless the module is held by one already.
std::shared_ptr<nn::Module> handle_of(nn::Module& module) {
  if (auto owned = module.weak_from_this().lock()) return owned;
  return {std::shared_ptr<void>(), &module};
}

}  // namespace

Tracer* active_tracer() { return current_tracer; }

ActiveTracerScope::ActiveTracerScope(Tracer* tracer)
    : previous_(std::exchange(current_tracer, tracer)) {}
ActiveTracerScope::~ActiveTracerScope() { current_tracer = previous_; }

void Tracer::index_root() {
  module_paths_.clear();
  slot_names_.clear();
  tensor_attrs_.clear();
  foreign_parameters_.clear();
  for (const auto& [path, module] : root->named_modules()) {
    module_paths_.emplace(module, path);
    for (const auto& [name, value] : module->own_attrs())
      if (value.is_tensor())
        tensor_attrs_[value.as_tensor().id()] = {value.as_tensor(),
                                                 nn::joined(path, name)};
  }
  auto add = [this](const std::string& name, const nn::Parameter& handle) {
    slot_names_.emplace(handle.slot(), name);
    tensor_attrs_[handle.tensor().id()] = {handle.tensor(), name};
  };
  for (const auto& [name, parameter] : root->named_parameters())
    add(name, parameter);
  for (const auto& [name, buffer] : root->named_buffers()) add(name, buffer);
}

std::unique_ptr<Graph> Tracer::trace(nn::Module& module,
                                     const ConcreteArgs& concrete_args) {
  root = handle_of(module);
  root_is_fresh_ = false;
  if (traced_func_name == "forward")
    return run_trace(
        module.signature(),
        [&](std::vector<Value> bound) {
          return module.invoke_bound(std::move(bound));
        },
        concrete_args);
  const nn::Method* const method = module.find_method(traced_func_name);
  if (!method)
    throw AssertionError("traced_func_name=" + traced_func_name +
                         " doesn't exist in " + module.type_name());
  return run_trace(method->signature, method->run, concrete_args);
}

std::unique_ptr<Graph> Tracer::trace(const TracedFunction& function,
                                     const ConcreteArgs& concrete_args) {
  if (!function.run) detail::throw_nothing_to_trace();
  root = std::make_shared<nn::Module>();
  root_is_fresh_ = true;
  return run_trace(function.signature, function.run, concrete_args);
}

std::unique_ptr<Graph> Tracer::run_trace(
    const nn::Signature& signature,
    const std::function<Value(std::vector<Value>)>& run,
    const ConcreteArgs& concrete_args) {
  // Forgets the graph when the traced code throws.
  struct GraphScope {
    Tracer& tracer;
    std::unique_ptr<Graph> graph = std::make_unique<Graph>();
    ~GraphScope() {
      // Proxies that outlive the trace would name nodes of another owner.
      tracer.parameter_cache_.clear();
      tracer.module_paths_.clear();
      if (graph) tracer.graph = nullptr;
    }
  };
  GraphScope traced{*this};
  graph = traced.graph.get();
  scope = {};
  module_stack = nullptr;
  num_calls_.clear();
  added_bodies.clear();
  index_root();
  const ActiveTracerScope active(this);
  std::vector<Value> args = create_args_for_root(signature, concrete_args);
  bool nested = false;
  for (size_t i = 0; i < args.size(); ++i)
    nested = nested ||
             (signature.args()[i].name[0] != '*' && TreeSpec::is_node(args[i]));
  const Value in_tree = nested ? Value::tuple(args) : Value();
  Value result = run(std::move(args));
  if (nested) result = flatten_result(signature, in_tree, result);
  create_node(Opcode::output, "output", {create_arg(result)}, {});
  return std::move(traced.graph);
}

// The graph gives the leaves of the result; its code takes and gives trees.
Value Tracer::flatten_result(const nn::Signature& signature,
                             const Value& in_tree, const Value& result) {
  auto [leaves, out_spec] = tree_flatten(result);
  std::vector<std::string> names;
  for (const size_t i : signature.python_order())
    names.push_back(signature.args()[i].name);
  ValueList in_order;
  for (const size_t i : signature.python_order())
    in_order.push_back(in_tree.at(i));
  graph->set_codegen(std::make_shared<PyTreeCodeGen>(
      std::move(names), TreeSpec(Value::tuple(std::move(in_order))),
      std::move(out_spec), /*of_module=*/!root_is_fresh_));
  return Value::list(std::move(leaves));
}

Value Tracer::create_arg(const Value& value) {
  return value.is_tensor() ? constant_arg(value.as_tensor())
                           : TracerBase::create_arg(value);
}

Value Tracer::constant_arg(const Tensor& tensor) {
  if (foreign_parameters_.contains(tensor.id()))
    throw NameError("parameter is not a member of this module",
                    error_context());
  auto found = tensor_attrs_.find(tensor.id());
  if (found == tensor_attrs_.end()) {
    const std::string name = get_fresh_qualname("_tensor_constant");
    root->set_attr(name, tensor);
    found = tensor_attrs_.emplace(tensor.id(), TensorAttr{tensor, name}).first;
  }
  // Bodies of control flow get it as an operand.
  NodePtr read;
  {
    const OutsideScope outside(*this);
    read = create_node(Opcode::get_attr, found->second.name, {}, {});
  }
  return in_reach(*this, read);
}

std::string Tracer::get_fresh_qualname(std::string_view prefix) {
  const std::string text(prefix);
  if (!has_member(*root, text + "0")) {
    qualname_counter_[text] = 0;
    return text + "0";
  }
  int& next = qualname_counter_[text];
  while (has_member(*root, text + std::to_string(next))) ++next;
  return text + std::to_string(next++);
}

bool Tracer::autowraps(const Function& function) const {
  const std::string_view name = function.name;
  const size_t dot = name.rfind('.');
  const std::string_view module = name.substr(0, dot == name.npos ? 0 : dot);
  for (const std::string& wrapped : options_.autowrap_modules)
    if (wrapped == module) return true;
  for (const std::string& wrapped : options_.autowrap_functions)
    if (wrapped == name ||
        (module == "builtins" && wrapped == name.substr(dot + 1)))
      return true;
  return false;
}

bool Tracer::is_leaf_module(const nn::Module& module, std::string_view) const {
  return module.is_leaf();
}

std::string Tracer::path_of_module(const nn::Module& module) const {
  const auto found = module_paths_.find(&module);
  if (found != module_paths_.end()) return found->second;
  if (module_paths_.empty())
    for (const auto& [path, candidate] : root->named_modules())
      if (candidate == &module) return path;
  throw NameError("module is not installed as a submodule", error_context());
}

Value Tracer::call_module(nn::Module& module, const ValueList& args,
                          const Kwargs& kwargs) {
  const std::string path = path_of_module(module);
  const int calls = num_calls_[path]++;
  auto stack = module_stack ? std::make_shared<ModuleStack>(*module_stack)
                            : std::make_shared<ModuleStack>();
  stack->push_back({calls > 0 ? path + "@" + std::to_string(calls) : path, path,
                    module.type_name()});

  // Restores the stack also when the module throws.
  struct StackScope {
    Tracer& tracer;
    std::shared_ptr<const ModuleStack> previous;
    ~StackScope() { tracer.module_stack = std::move(previous); }
  };
  const StackScope stack_scope{*this,
                               std::exchange(module_stack, std::move(stack))};
  const ScopeContextManager in_module(scope, {path, module.type_name()});
  if (is_leaf_module(module, path))
    return create_proxy(Opcode::call_module, path, args, kwargs);
  return module.invoke(args, kwargs);
}

Value Tracer::call_from_user(nn::Module& module, const ValueList& args,
                             const Kwargs& kwargs, SourceLocation source) {
  const SourceScope line(*this, source);
  const CallerScope caller(*this, source);
  return call_module(module, args, kwargs);
}

Value Tracer::getattr(std::string_view attr, const nn::Parameter& value,
                      ParameterProxyCache& cache) {
  const bool proxied = value.slot()->is_parameter || proxy_buffer_attributes;
  if (!proxied || attr.empty()) return value.slot()->value;
  std::string name(attr);
  auto found = cache.find(name);
  if (found == cache.end()) {
    Value made = Value::proxy(
        new ParameterProxy(this, name, value, options_.param_shapes_constant));
    found = cache.emplace(std::move(name), std::move(made)).first;
  }
  return found->second;
}

Value Tracer::read_parameter(const nn::Parameter& parameter) {
  const auto found = slot_names_.find(parameter.slot());
  if (found == slot_names_.end() && parameter.defined() &&
      parameter.slot()->is_parameter)
    foreign_parameters_.emplace(parameter.tensor().id(), parameter.tensor());
  return getattr(found == slot_names_.end() ? "" : found->second, parameter,
                 parameter_cache_);
}

}  // namespace fxjit::fx
