#include "fxjit/fx/tracer_base.h"

#include <utility>

#include "fxjit/fx/traceback.h"
#include "src/fx/control_flow/body_frame.h"
#include "src/fx/graph/torch_schemas.h"
#include "src/fx/text/print_value.h"

namespace fxjit::fx {
namespace {

// What a call that writes its arguments is called in errors; empty for others.
// As torch, which looks at its own functions alone and takes those whose
// overloads it cannot tell apart for pure.
std::string mutable_operation(const Target& target, const ValueList& args,
                              const Kwargs& kwargs) {
  if (!torch_schemas(target.text()).empty()) {
    const auto fitting = fitting_schemas(target.text(), args.size(), kwargs);
    const bool refused = fitting.size() == 1 && fitting[0].is_mutable();
    return refused ? fitting[0].text() : "";
  }
  const bool mutates =
      target.op() && target.op()->row.purity == ops::Purity::mutates;
  const bool of_python = target.text().starts_with("_operator.");
  return mutates && !of_python ? std::string(target.text()) : "";
}

}  // namespace

ErrorContext TracerBase::error_context() const {
  return {"", "", scope.module_path, source_};
}

NodePtr TracerBase::create_node(Opcode kind, const Target& target,
                                ValueList args, Kwargs kwargs,
                                std::string_view name, const Value& type) {
  if (check_mutable_operations && kind == Opcode::call_function) {
    const std::string operation = mutable_operation(target, args, kwargs);
    if (!operation.empty())
      throw RuntimeError(
          "Tried to trace mutable operation " + operation +
              ". FX only supports functional code, so operations that mutate "
              "operands in-place (e.g. via `out` arguments) are not supported",
          error_context());
  }
  const NodePtr node = graph->create_node(kind, target, std::move(args),
                                          std::move(kwargs), name, type);
  node->set_source(source_);
  if (module_stack) node->set_module_stack(module_stack);
  if (traceback::has_preserved_node_meta()) traceback::copy_current_meta(*node);
  if (record_stack_traces && source_.known() &&
      !std::as_const(*node).meta().contains("stack_trace"))
    node->meta().set("stack_trace", Value(stack_trace()));
  return node;
}

std::string TracerBase::stack_trace() const {
  std::string text;
  std::string previous;
  auto add = [&](const SourceLocation& line) {
    if (!line.known() || line.str() == previous) return;
    previous = line.str();
    text += (text.empty() ? "File \"" : "\n  File \"") +
            std::string(line.file) + "\", line " + std::to_string(line.line) +
            ", in " + traced_func_name;
  };
  for (const SourceLocation& line : callers_) add(line);
  add(source_);
  return text;
}

Value TracerBase::proxy(NodePtr node) {
  return Value::proxy(new Proxy(node, this));
}

Value TracerBase::create_proxy(Opcode kind, const Target& target,
                               ValueList args, Kwargs kwargs,
                               std::string_view name, const Value& type,
                               const ProxyFactory& factory) {
  for (Value& arg : args) arg = create_arg(arg);
  for (auto& [key, arg] : kwargs) arg = create_arg(arg);
  const NodePtr node =
      create_node(kind, target, std::move(args), std::move(kwargs), name, type);
  return factory ? factory(node) : proxy(node);
}

Value TracerBase::create_arg(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::proxy:
      return Value(in_reach(*this, node_of(value)));
    case Value::Kind::list:
    case Value::Kind::tuple: {
      ValueList items;
      items.reserve(value.size());
      for (const Value& item : value.as_sequence())
        items.push_back(create_arg(item));
      return value.is_list() ? Value::list(std::move(items))
                             : Value::tuple(std::move(items));
    }
    case Value::Kind::dict: {
      ValueDict items;
      for (const auto& [key, item] : value.as_dict()) {
        const Value made = key.is_string() ? key : create_arg(key);
        visit_leaves(made, [&](const Value& leaf) {
          if (!leaf.is_node()) return;
          std::string text;
          append_repr(text, leaf);
          throw RuntimeError(
              "Keys for dictionaries used as an argument cannot contain a "
              "Node. Got key: " +
                  text,
              error_context());
        });
        items.emplace_back(made, create_arg(item));
      }
      return Value::dict(std::move(items));
    }
    case Value::Kind::slice: {
      // One statement each: proxies make nodes here, in this order.
      const auto s = value.as_slice();
      Value start = create_arg(s.start);
      Value stop = create_arg(s.stop);
      Value step = create_arg(s.step);
      return Value::slice(std::move(start), std::move(stop), std::move(step));
    }
    case Value::Kind::opaque:
      if (auto* traced = dynamic_cast<TracedArgument*>(value.as_opaque()))
        return traced->fx_create_arg(*this);
      throw NotImplementedError(
          "argument of type: <class '" + std::string(value.kind_name()) + "'>",
          error_context());
    default:
      return value;
  }
}

bool TracerBase::to_bool(Proxy&) {
  throw TraceError(
      "symbolically traced variables cannot be used as inputs to control flow",
      error_context());
}

std::vector<Value> TracerBase::iter(Proxy&) {
  throw TraceError(
      "Proxy object cannot be iterated. This can be attempted when the Proxy "
      "is "
      "used in a loop or as a *args or **kwargs function argument. See the "
      "torch.fx docs on pytorch.org for a more detailed explanation of what "
      "types of control flow can be traced, and check out the Proxy docstring "
      "for help troubleshooting Proxy iteration errors",
      error_context());
}

Value TracerBase::keys(Proxy& proxy) {
  return create_proxy(Opcode::call_method, "keys", {Value::proxy(&proxy)}, {});
}

Scope TracerBase::scope_of(const Node& node) const {
  const auto& stack = node.module_stack();
  if (!stack || stack->empty()) return {};
  return {stack->back().path, stack->back().type};
}

}  // namespace fxjit::fx
