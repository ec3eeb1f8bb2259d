#include "fxjit/fx/proxy.h"

#include "fxjit/fx/tracer.h"
#include "src/fx/control_flow/body_frame.h"
#include "src/fx/tracing/builtins.h"
#include "src/ops/python/items.h"
#include "src/ops/table/op_facts.h"

namespace fxjit::fx {
namespace {

Proxy* as_fx_proxy(const Value& value) {
  return value.is_proxy() ? dynamic_cast<Proxy*>(value.as_proxy()) : nullptr;
}

TracerBase& tracer_of(const Value& root) {
  if (Proxy* const found = as_fx_proxy(root)) return found->tracer();
  throw TypeError("[attribute] root: expected a proxy, got " +
                  std::string(root.kind_name()));
}

std::vector<Value> items_of(const Value& value, size_t count,
                            SourceLocation source) {
  static const ops::Spelling& getitem = ops::get_function("_operator.getitem");
  std::vector<Value> items;
  for (size_t i = 0; i < count; ++i)
    items.push_back(ops::call_function(getitem, {value, Value(i)}, {}, source));
  return items;
}

}  // namespace

Proxy::Proxy(NodePtr node, TracerBase* tracer)
    : node_(node), tracer_(tracer->life()) {}

NodePtr Proxy::node() {
  tracer();
  return node_;
}

TracerBase& Proxy::tracer() const {
  if (!*tracer_)
    throw RuntimeError(
        "a Proxy was used after its trace had ended: nothing records it");
  return **tracer_;
}

const void* Proxy::tracer_id() const { return tracer().identity(); }

Value Proxy::record_function(const ops::Spelling& function, ValueList args,
                             Kwargs kwargs, SourceLocation source) {
  const SourceScope scope(tracer(), source);
  return tracer().create_proxy(Opcode::call_function, function, std::move(args),
                               std::move(kwargs));
}

Value Proxy::record_method(std::string_view method, ValueList args,
                           Kwargs kwargs, SourceLocation source) {
  const SourceScope scope(tracer(), source);
  return tracer().create_proxy(Opcode::call_method, method, std::move(args),
                               std::move(kwargs));
}

bool Proxy::to_bool(SourceLocation source) {
  // C++ does not say where bool() was asked: then where the value was made.
  const SourceScope scope(tracer(), source.known() ? source : node()->source());
  return tracer().to_bool(*this);
}

std::string Proxy::describe() const {
  return *tracer_ ? "Proxy(" + std::string(node_->name()) + ")"
                  : "Proxy of a trace that has ended";
}

Attribute::Attribute(Value root, std::string name, SourceLocation source)
    : Proxy(nullptr, &tracer_of(root)),
      root_(std::move(root)),
      name_(std::move(name)),
      source_(source) {
  const auto* const outer = dynamic_cast<const Attribute*>(root_.as_proxy());
  if (outer) nesting_ = outer->nesting_ + 1;
  if (nesting_ > Value::kMaxNesting)
    throw RuntimeError(
        "maximum recursion depth exceeded: expected attributes of attributes "
        "at most " +
        std::to_string(Value::kMaxNesting) + " deep");
}

NodePtr Attribute::node() {
  if (node_) return Proxy::node();
  const SourceScope scope(tracer(), source_);
  const NodePtr made = node_of(tracer().create_proxy(
      Opcode::call_function, targets().getattr, {root_, Value(name_)}, {}));
  // What a body of control flow reads is its own.
  if (tracer().bodies().empty()) node_ = made;
  return made;
}

Value Attribute::call(const ValueList& args, const Kwargs& kwargs,
                      SourceLocation source) {
  const SourceScope scope(tracer(), source);
  ValueList all = {root_};
  all.insert(all.end(), args.begin(), args.end());
  return tracer().create_proxy(Opcode::call_method, name_, std::move(all),
                               kwargs);
}

std::string Attribute::describe() const {
  return node_ ? Proxy::describe() : "Attribute(" + name_ + ")";
}

ParameterProxy::ParameterProxy(TracerBase* tracer, std::string name,
                               nn::Parameter parameter, bool shapes_constant)
    : Proxy(nullptr, tracer),
      name_(std::move(name)),
      parameter_(std::move(parameter)),
      shapes_constant_(shapes_constant) {}

NodePtr ParameterProxy::node() {
  // Through all hooks, as any other node; this stays the proxy of the value.
  // Bodies of control flow get it as an operand.
  if (!node_) {
    const OutsideScope outside(tracer());
    node_ = node_of(tracer().create_proxy(Opcode::get_attr, name_, {}, {}));
  }
  return node_;
}

Value ParameterProxy::shape_fact(std::string_view name, const ValueList& args,
                                 const Kwargs& kwargs) const {
  if (!shapes_constant_) return {};
  const Tensor& tensor = parameter_.tensor();
  if (name == "ndim") return tensor.dim();
  if (name == "shape") return ops::python::size_tuple(tensor.sizes());
  const ops::Spelling* const method = ops::find_method(name);
  if (!method || !ops::tells_sizes(*method)) return {};
  ValueList call{tensor};
  if (args.size() > 1) call.insert(call.end(), args.begin() + 1, args.end());
  return ops::call_method(name, std::move(call), kwargs);
}

Value ParameterProxy::record_function(const ops::Spelling& function,
                                      ValueList args, Kwargs kwargs,
                                      SourceLocation source) {
  if (&function == targets().getattr.spelling() && args.size() == 2 &&
      args[1].is_string()) {
    Value fact = shape_fact(args[1].as_string(), {});
    if (!fact.is_none()) return fact;
  }
  return Proxy::record_function(function, std::move(args), std::move(kwargs),
                                source);
}

Value ParameterProxy::record_method(std::string_view method, ValueList args,
                                    Kwargs kwargs, SourceLocation source) {
  Value fact = shape_fact(method, args, kwargs);
  if (!fact.is_none()) return fact;
  return Proxy::record_method(method, std::move(args), std::move(kwargs),
                              source);
}

std::string ParameterProxy::describe() const {
  return "ParameterProxy(" + name_ + ")";
}

Value proxy(NodePtr node) {
  if (!node) throw AttributeError("'NoneType' object has no attribute 'graph'");
  return node->graph().appending_tracer().proxy(node);
}

NodePtr node_of(const Value& value) {
  if (Proxy* found = as_fx_proxy(value)) return found->node();
  throw TypeError("[node_of] value: expected a proxy, got " +
                  std::string(value.kind_name()));
}

Value force_node(Value value) {
  if (Proxy* found = as_fx_proxy(value)) found->node();
  return value;
}

Value getattr(const Value& value, std::string_view name,
              SourceLocation source) {
  Proxy* const found = as_fx_proxy(value);
  if (!found)
    return run_target(targets().getattr, {value, Value(name)}, {}, source);
  if (auto* parameter = dynamic_cast<ParameterProxy*>(found)) {
    Value fact = parameter->shape_fact(name, {});
    if (!fact.is_none()) return fact;
  }
  return Value::proxy(new Attribute(value, std::string(name), source));
}

std::vector<Value> unpack(const Value& value, size_t count,
                          SourceLocation source) {
  if (!value.is_proxy()) {
    const std::vector<Value> items = iterate(value, source);
    if (items.size() == count) return items;
    const bool many = items.size() > count;
    throw ValueError(
        (many ? "too many values to unpack (expected "
              : "not enough values to unpack (expected ") +
        std::to_string(count) +
        (many ? ")" : ", got " + std::to_string(items.size()) + ")"));
  }
  return items_of(value, count, source);
}

std::vector<Value> iterate(const Value& value, SourceLocation source) {
  if (Proxy* found = as_fx_proxy(value)) {
    const SourceScope scope(found->tracer(), source);
    return found->tracer().iter(*found);
  }
  if (value.is_sequence()) return value.as_sequence();
  if (value.is_dict()) {
    std::vector<Value> keys;
    for (const auto& [key, item] : value.as_dict()) keys.push_back(key);
    return keys;
  }
  if (value.is_tensor() && value.as_tensor().dim() > 0)
    return items_of(value, static_cast<size_t>(value.as_tensor().size(0)),
                    source);
  throw TypeError("'" + std::string(value.kind_name()) +
                  "' object is not iterable");
}

Value keys(const Value& value, SourceLocation source) {
  if (Proxy* found = as_fx_proxy(value)) {
    const SourceScope scope(found->tracer(), source);
    return found->tracer().keys(*found);
  }
  ValueList keys;
  for (const auto& [key, item] : value.as_dict()) keys.push_back(key);
  return Value::list(std::move(keys));
}

Value torch_assert(const Value& condition, std::string_view message,
                   SourceLocation source) {
  Proxy* const found = as_fx_proxy(condition);
  if (!found)
    return run_target(targets().torch_assert, {condition, Value(message)}, {},
                      source);
  const SourceScope scope(found->tracer(), source);
  return found->tracer().create_proxy(Opcode::call_function,
                                      targets().torch_assert,
                                      {condition, Value(message)}, {});
}

void check(const Value& condition, SourceLocation source) {
  Proxy* const found = as_fx_proxy(condition);
  if (found && found->tracer().trace_asserts) {
    const SourceScope scope(found->tracer(), source);
    found->tracer().create_proxy(Opcode::call_function, targets().assert_fn,
                                 {condition}, {});
    return;
  }
  if (found ? found->to_bool(source) : static_cast<bool>(condition)) return;
  throw AssertionError("Assertion failed", {"", "", "", source});
}

Value len(const Value& value, SourceLocation source) {
  const Function& function = *targets().len.function();
  if (value.is_proxy()) {
    const Tracer* const tracer = active_tracer();
    if (function.is_wrapped() || (tracer && tracer->autowraps(function)))
      return record_or_run(function, {value}, {}, source);
    throw RuntimeError(
        "'len' is not supported in symbolic tracing by default. If you want "
        "this call to be recorded, please call torch.fx.wrap('len') at module "
        "scope",
        {"", "", "", source});
  }
  return function.run({value}, {});
}

}  // namespace fxjit::fx
