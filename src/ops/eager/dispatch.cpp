// The rule of torch's __torch_function__: a call with a proxy among its
// arguments is recorded by that proxy's tracer, any other runs. Python's
// operators look at their operands only: a list of proxies is a list.
#include "fxjit/op.h"
#include "fxjit/proxy_base.h"
#include "src/ops/python/methods.h"
#include "src/ops/python/operators.h"
#include "src/ops/table/op_call.h"
#include "src/ops/table/sized_calls.h"

namespace fxjit::ops {
namespace {

// The first proxy in the arguments. Proxies of two tracers are refused.
fx::ProxyBase* find_proxy(const ValueList& args, const Kwargs& kwargs,
                          std::string_view target, SourceLocation source) {
  fx::ProxyBase* found = nullptr;
  const auto look = [&](const Value& leaf) {
    if (!leaf.is_proxy()) return;
    fx::ProxyBase* proxy = leaf.as_proxy();
    if (!found) found = proxy;
    if (found->tracer_id() == proxy->tracer_id()) return;
    throw RuntimeError("Found multiple different tracers [" +
                           found->describe() + ", " + proxy->describe() +
                           "] while trying to trace operations " +
                           std::string(target),
                       context_of(target, source));
  };
  for (const Value& arg : args) visit_leaves(arg, look);
  for (const auto& [name, value] : kwargs) visit_leaves(value, look);
  return found;
}

// As torch's Python-level functions call handle_torch_function: parameters
// without default by position (those of "*tensors" as they are), all others by
// keyword.
void spell_out(const Op& op, ValueList& args, Kwargs& kwargs,
               SourceLocation source) {
  std::vector<Value> bound = ops::bind(op, args, kwargs, source);
  const bool variadic = !op.parameters.empty() && op.parameters[0].variadic;
  if (!variadic) args.clear();
  kwargs.clear();
  for (size_t i = variadic ? 1 : 0; i < bound.size(); ++i) {
    const Parameter& parameter = op.parameters[i];
    if (parameter.has_default)
      kwargs.emplace_back(parameter.name, std::move(bound[i]));
    else
      args.push_back(std::move(bound[i]));
  }
}

// Python's operators on plain values, also on containers that hold proxies;
// nothing where a tensor or proxy has an operator of its own.
std::optional<Value> run_python(std::string_view function,
                                const ValueList& args, const Kwargs& kwargs,
                                SourceLocation source) {
  constexpr std::string_view kPrefix = "_operator.";
  if (args.empty() || args[0].is_tensor() || args[0].is_proxy() ||
      !function.starts_with(kPrefix))
    return std::nullopt;
  const PythonOperator* python =
      find_python_operator(function.substr(kPrefix.size()));
  if (!python || !takes_plain(*python, args)) return std::nullopt;
  try {
    return call_python_operator(*python, args, kwargs);
  } catch (Error& error) {
    error.extend("", context_of(function, source));
    throw;
  }
}

Value run_bound(const Spelling& spelling, const ValueList& args,
                const Kwargs& kwargs, SourceLocation source) {
  const std::vector<Value> bound = ops::bind(spelling, args, kwargs, source);
  const OpCall call{*spelling.op, bound, source};
  return SizedCalls::are_inferred(bound) ? infer(call) : run_eager(call);
}

}  // namespace

Value call_function(const Spelling& function, ValueList args, Kwargs kwargs,
                    SourceLocation source) {
  if (const auto result = run_python(function.name, args, kwargs, source))
    return *result;
  fx::ProxyBase* proxy = find_proxy(args, kwargs, function.name, source);
  if (!proxy) proxy = SizedCalls::tracer_of(args);
  if (!proxy) return run_bound(function, args, kwargs, source);
  if (function.python_level) spell_out(*function.op, args, kwargs, source);
  // Held while recording: the arguments are moved away.
  const Value keep = Value::proxy(proxy);
  return proxy->record_function(function, std::move(args), std::move(kwargs),
                                source);
}

Value call_method(std::string_view method, ValueList args, Kwargs kwargs,
                  SourceLocation source) {
  if (fx::ProxyBase* proxy = find_proxy(args, kwargs, method, source)) {
    const Value keep = Value::proxy(proxy);
    return proxy->record_method(method, std::move(args), std::move(kwargs),
                                source);
  }
  const bool on_tensor = !args.empty() && args[0].is_tensor();
  const Spelling* spelling = find_method(method);
  if (!spelling || !on_tensor)
    if (const auto result = call_python_method(method, args, kwargs))
      return *result;
  if (!spelling)
    throw AttributeError(
        "'" + std::string(args.empty() ? "Tensor" : args[0].kind_name()) +
            "' object has no attribute '" + std::string(method) + "'",
        context_of(method, source));
  return run_bound(*spelling, args, kwargs, source);
}

}  // namespace fxjit::ops
