#include "src/ops/table/op_call.h"

#include "fxjit/proxy_base.h"

namespace fxjit::ops {
namespace {

[[noreturn]] void wrong_kind(const OpCall& call, size_t i,
                             const char* expected) {
  throw TypeError(call_prefix(call) + call.op.parameters[i].name +
                      ": expected " + expected + ", got " +
                      std::string(call.args[i].kind_name()),
                  context_of(call));
}

}  // namespace

const Tensor& OpCall::tensor(size_t i) const {
  if (args[i].is_proxy()) {
    // The node that the proxy stands for keeps the tensor alive.
    const Value known = args[i].as_proxy()->val();
    if (known.is_tensor()) return known.as_tensor();
  }
  if (!args[i].is_tensor()) wrong_kind(*this, i, "Tensor");
  return args[i].as_tensor();
}

int64_t OpCall::integer(size_t i) const { return size(i); }

Size OpCall::size(size_t i) const {
  if (!args[i].is_int() && !args[i].is_bool()) wrong_kind(*this, i, "int");
  return args[i].as_size();
}

double OpCall::number(size_t i) const {
  if (args[i].is_tensor() && args[i].as_tensor().dim() == 0 &&
      !args[i].as_tensor().is_meta())
    return args[i].as_tensor().item();
  if (!args[i].is_number()) wrong_kind(*this, i, "a number");
  return args[i].as_double();
}

bool OpCall::flag(size_t i) const {
  if (!args[i].is_bool() && !args[i].is_int()) wrong_kind(*this, i, "bool");
  return args[i].as_int() != 0;
}

Dims OpCall::dims(size_t i) const {
  if (args[i].is_int()) return args[i].as_dims();
  if (!args[i].is_sequence()) wrong_kind(*this, i, "int or a list of int");
  for (const Value& item : args[i].as_sequence())
    if (!item.is_int() && !item.is_bool())
      wrong_kind(*this, i, "a list of int");
  return args[i].as_dims();
}

void OpCall::fail(const std::string& message) const {
  throw UserError(call_prefix(*this) + message, context_of(*this));
}

ErrorContext context_of(const OpCall& call) {
  return {call.op.row.name, std::string(call.node), {}, call.source};
}

ErrorContext context_of(std::string_view op, SourceLocation source) {
  return {std::string(op), {}, {}, source};
}

std::string call_prefix(const OpCall& call) {
  std::string prefix = "[" + std::string(call.op.row.name);
  if (!call.node.empty()) prefix += " %" + std::string(call.node);
  return prefix + "] ";
}

std::vector<Tensor> tensors_in(std::span<const Value> values) {
  std::vector<Tensor> found;
  for (const Value& value : values)
    visit_leaves(value, [&](const Value& leaf) {
      if (leaf.is_tensor()) found.push_back(leaf.as_tensor());
    });
  return found;
}

std::vector<Tensor> tensors_in(const Value& value) {
  return tensors_in(std::span(&value, 1));
}

bool has_flag(const OpCall& call, std::string_view parameter) {
  const int i = call.op.index_of(parameter);
  return i >= 0 && call[static_cast<size_t>(i)].is_bool() &&
         call[static_cast<size_t>(i)].as_bool();
}

bool has_tensor(const OpCall& call) {
  bool found = false;
  for (const Value& arg : call.args)
    visit_leaves(arg, [&](const Value& leaf) { found |= leaf.is_tensor(); });
  return found;
}

bool has_meta(const OpCall& call) {
  bool found = false;
  for (const Value& arg : call.args)
    visit_leaves(arg, [&](const Value& leaf) {
      found |= leaf.is_tensor() && leaf.as_tensor().is_meta();
    });
  return found;
}

Tensor as_meta(const Tensor& tensor) {
  return Tensor::meta(tensor.sizes(), tensor.dtype(), tensor.strides(),
                      tensor.offset());
}

Value metas_of(const Value& value) {
  return map_leaves(value, [](const Value& leaf) -> Value {
    const bool real = leaf.is_tensor() && !leaf.as_tensor().is_meta();
    return real ? as_meta(leaf.as_tensor()) : leaf;
  });
}

bool writes_input(const OpCall& call) {
  return call.op.row.purity == Purity::mutates || has_flag(call, "inplace");
}

bool writes_statistics(const OpCall& call) {
  const int mean = call.op.index_of("running_mean");
  const int training = call.op.index_of("training");
  if (mean < 0 || training < 0 || !call.has(static_cast<size_t>(mean)))
    return false;
  // What is not known before the call counts as true.
  const Value& flag = call[static_cast<size_t>(training)];
  return !flag.is_bool() || flag.as_bool();
}

namespace {

template <typename... Es>
bool is_any(const Error& error) {
  return (dynamic_cast<const Es*>(&error) || ...);
}

}  // namespace

void rethrow_with_call(Error& error, const OpCall& call) {
  if (!error.context().op.empty() || !is_any<UserError, RuntimeError>(error))
    throw;
  // Errors of Python's types keep their wording; the context carries the op.
  if (is_any<RuntimeError, IndexError, TypeError, ValueError, KeyError,
             ZeroDivisionError, OverflowError, NotImplementedError>(error)) {
    error.extend("", context_of(call));
    error.set_source(call.source);
    throw;
  }
  ErrorContext context = context_of(call);
  context.module_path = error.context().module_path;
  throw UserError(call_prefix(call) + error.message(), std::move(context));
}

void throw_no_memory(const OpCall& call) {
  throw RuntimeError(call_prefix(call) + "no memory for the result",
                     context_of(call));
}

}  // namespace fxjit::ops
