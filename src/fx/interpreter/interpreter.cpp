#include "fxjit/fx/interpreter.h"

#include "fxjit/fx/control_flow.h"
#include "fxjit/fx/traceback.h"
#include "fxjit/fx/wrap.h"
#include "src/fx/graph_module/called_module.h"

namespace fxjit::fx {
namespace {

// AttributeError for the first part of `target` that is missing.
[[noreturn]] void throw_no_attribute(const nn::Module& root,
                                     std::string_view target) {
  std::string owner = root.type_name();
  size_t begin = 0;
  for (size_t end = target.find('.'); end != target.npos;
       end = target.find('.', begin)) {
    const nn::Member member = root.find_member(target.substr(0, end));
    if (std::holds_alternative<std::monostate>(member)) break;
    const auto* const module = std::get_if<nn::ModuleRef>(&member);
    owner = module && *module ? (*module)->type_name()
            : std::holds_alternative<nn::Parameter>(member) ? "Parameter"
                                                            : "Tensor";
    begin = end + 1;
  }
  const std::string_view missing = target.substr(begin);
  throw AttributeError("'" + owner + "' object has no attribute '" +
                       std::string(missing.substr(0, missing.find('.'))) + "'");
}

}  // namespace

void Env::reset(const Graph& graph) {
  values_.assign(graph.id_bound(), {});
  present_.assign(graph.id_bound(), false);
  size_ = 0;
}

void Env::set(const Node& node, Value value) {
  if (present_.size() <= node.id()) {
    const size_t bound = node.graph().id_bound();
    values_.resize(bound);
    present_.resize(bound);
  }
  if (!present_[node.id()]) ++size_;
  present_[node.id()] = true;
  values_[node.id()] = std::move(value);
}

void Env::erase(const Node& node) {
  if (!contains(node)) return;
  present_[node.id()] = false;
  values_[node.id()] = {};
  --size_;
}

ExecutionPlan::ExecutionPlan(const Graph& graph)
    : first_(graph.id_bound() + 1) {
  // The last user of each value, found from the end.
  std::vector<const Node*> last(graph.id_bound());
  for (const Node* node : graph.nodes().reversed())
    for (NodePtr input : node->all_input_nodes())
      if (!last[input->id()]) {
        last[input->id()] = node;
        ++first_[node->id() + 1];
      }
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  dead_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (NodePtr node : graph.nodes())
    if (const Node* user = last[node->id()]) dead_[next[user->id()]++] = node;
}

std::span<const NodePtr> ExecutionPlan::dead_after(const Node& node) const {
  if (node.id() + 1 >= first_.size()) return {};  // Made after the plan.
  const uint32_t begin = first_[node.id()];
  return {dead_.data() + begin, first_[node.id() + 1] - begin};
}

Interpreter::Interpreter(const nn::Module& module, const Graph& graph,
                         const ExecutionPlan* plan)
    : env(graph), module_(module), graph_(graph), plan_(plan) {}

Interpreter::Interpreter(const nn::Module& module, const Graph& graph,
                         bool garbage_collect_values)
    : Interpreter(module, graph, static_cast<const ExecutionPlan*>(nullptr)) {
  if (!garbage_collect_values) return;
  own_plan_ = std::make_unique<const ExecutionPlan>(graph);
  plan_ = own_plan_.get();
}

Interpreter::Interpreter(const GraphModule& module, bool garbage_collect_values)
    : Interpreter(module, module.graph(), garbage_collect_values) {}

Value Interpreter::run(ValueList args, Env initial_env,
                       bool enable_io_processing) {
  env = std::move(initial_env);
  if (enable_io_processing)
    args = graph_.codegen().process_inputs(std::move(args));
  args_ = std::move(args);
  next_arg_ = 0;
  Value result = run_nodes();
  return enable_io_processing
             ? graph_.codegen().process_outputs(std::move(result))
             : result;
}

Value Interpreter::boxed_run(ValueList* args) {
  const std::vector<NodePtr> placeholders = graph_.placeholders();
  if (!args) throw TypeError("object of type 'NoneType' has no len()");
  if (args->size() != placeholders.size())
    throw RuntimeError("Interpreter.boxed_run expected " +
                       std::to_string(placeholders.size()) +
                       " arguments for placeholders but received " +
                       std::to_string(args->size()) +
                       (args->size() > placeholders.size()
                            ? " (extra arguments)"
                            : " (missing arguments)"));
  Env initial(graph_);
  for (size_t i = 0; i < placeholders.size(); ++i)
    initial.set(*placeholders[i], std::move((*args)[i]));
  args->clear();
  // These are the graph's inputs: there are no trees to take apart.
  return graph_.codegen().process_outputs(
      run({}, std::move(initial), /*enable_io_processing=*/false));
}

void Interpreter::execute(const Node& node) {
  current_ = &node;
  try {
    env.set(node, run_node(node));
  } catch (Error& error) {
    error.extend(
        extra_traceback ? "\n\nWhile executing " + node.format_node() : "",
        node.error_context());
    throw;
  }
}

Value Interpreter::run_nodes() {
  for (const Node* node : graph_.nodes()) {
    if (env.contains(*node)) continue;
    execute(*node);
    if (plan_)
      for (const Node* dead : plan_->dead_after(*node)) env.erase(*dead);
    if (node->is(Opcode::output)) return *env.find(*node);
  }
  return None;
}

Value Interpreter::run_node(const Node& node) {
  const traceback::CurrentMeta scope(node);
  const auto [args, kwargs] = fetch_args_kwargs_from_env(node);
  switch (node.op()) {
    case Opcode::placeholder:
      return placeholder(node.target(), args, kwargs);
    case Opcode::get_attr:
      return get_attr(node.target(), args, kwargs);
    case Opcode::call_function:
      return call_function(node.target(), args, kwargs);
    case Opcode::call_method:
      return call_method(node.target(), args, kwargs);
    case Opcode::call_module:
      return call_module(node.target(), args, kwargs);
    case Opcode::output:
      return output(node.target(), args, kwargs);
    case Opcode::root:
      break;
  }
  FXJIT_CHECK(false, "the root of a graph cannot run");
  return None;
}

Value Interpreter::placeholder(const Target& target, const ValueList& args,
                               const Kwargs&) {
  if (target.text().starts_with('*')) {
    ValueList rest(args_.begin() + static_cast<std::ptrdiff_t>(next_arg_),
                   args_.end());
    next_arg_ = args_.size();
    return Value::list(std::move(rest));
  }
  if (next_arg_ < args_.size()) return std::move(args_[next_arg_++]);
  if (!args.empty()) return args[0];
  throw RuntimeError("Expected positional argument for parameter " +
                     std::string(target.text()) +
                     ", but one was not passed in!");
}

Value Interpreter::get_attr(const Target& target, const ValueList&,
                            const Kwargs&) {
  const nn::Member member = fetch_attr(target.text());
  if (const auto* module = std::get_if<nn::ModuleRef>(&member))
    return module_value(*module);
  if (const auto* parameter = std::get_if<nn::Parameter>(&member))
    return parameter->value();
  if (const auto* buffer = std::get_if<nn::Buffer>(&member))
    return buffer->value();
  return std::get<Value>(member);
}

Value Interpreter::call_function(const Target& target, const ValueList& args,
                                 const Kwargs& kwargs) {
  const SourceLocation source =
      current_ ? current_->source() : SourceLocation();
  if (const Function* function = target.function())
    return record_or_run(*function, args, kwargs, source);
  return ops::call_function(*target.spelling(), args, kwargs, source);
}

Value Interpreter::call_method(const Target& target, const ValueList& args,
                               const Kwargs& kwargs) {
  return ops::call_method(target.text(), args, kwargs,
                          current_ ? current_->source() : SourceLocation());
}

Value Interpreter::call_module(const Target& target, const ValueList& args,
                               const Kwargs& kwargs) {
  return called_module(fetch_attr(target.text()), target)
      ->call(args, kwargs, current_ ? current_->source() : SourceLocation());
}

Value Interpreter::output(const Target&, const ValueList& args, const Kwargs&) {
  return args.at(0);
}

nn::Member Interpreter::fetch_attr(std::string_view target) const {
  nn::Member member = module_.find_member(target);
  if (!std::holds_alternative<std::monostate>(member)) return member;
  size_t end = 0;
  do {
    end = std::min(target.find('.', end + 1), target.size());
  } while (end < target.size() &&
           module_.find_submodule(target.substr(0, end)));
  // The plan of a GraphModule: torch's generated code says it otherwise.
  if (plan_ != own_plan_.get()) throw_no_attribute(module_, target);
  throw RuntimeError("Node referenced nonexistent target " +
                     std::string(target.substr(0, end)));
}

std::pair<ValueList, Kwargs> Interpreter::fetch_args_kwargs_from_env(
    const Node& node) const {
  ValueList args;
  args.reserve(node.args().size());
  for (const Value& arg : node.args())
    args.push_back(map_nodes_to_values(arg, node));
  Kwargs kwargs;
  kwargs.reserve(node.kwargs().size());
  for (const auto& [key, arg] : node.kwargs())
    kwargs.emplace_back(key, map_nodes_to_values(arg, node));
  return {std::move(args), std::move(kwargs)};
}

Value Interpreter::map_nodes_to_values(const Value& value,
                                       const Node& node) const {
  return map_leaves(value, [&](const Value& leaf) {
    if (!leaf.is_node()) return leaf;
    if (const Value* found = env.find(*leaf.as_node())) return *found;
    throw RuntimeError("Node " + std::string(node.name()) +
                       " referenced nonexistent value " +
                       std::string(leaf.as_node()->name()) +
                       "! Run Graph.lint() to diagnose such issues");
  });
}

}  // namespace fxjit::fx
