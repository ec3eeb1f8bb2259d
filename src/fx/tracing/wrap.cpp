#include "fxjit/fx/wrap.h"

#include <optional>

#include "fxjit/fx/tracer.h"
#include "src/fx/control_flow/functions.h"
#include "src/fx/graph/namespace.h"
#include "src/fx/tracing/builtins.h"

namespace fxjit::fx {
namespace {

// The first proxy of the arguments; proxies of another tracer are refused, and
// those of no tracer where the function would have to look at them.
Proxy* find_proxy(const Function& function, const ValueList& args,
                  const Kwargs& kwargs, SourceLocation source) {
  Proxy* found = nullptr;
  auto visit = [&](const Value& leaf) {
    if (!leaf.is_proxy()) return;
    auto* const proxy = dynamic_cast<Proxy*>(leaf.as_proxy());
    if (!found) found = proxy;
    if (proxy && found->tracer_id() == proxy->tracer_id()) return;
    if (!proxy && is_python_function(function.name)) return;
    const ErrorContext context{function.name, "", "", source};
    if (!proxy)
      throw NotImplementedError("[" + function.name +
                                    "] cannot be compiled: the target is not "
                                    "in the op table",
                                context);
    throw RuntimeError("Found multiple different tracers [" +
                           found->describe() + ", " + proxy->describe() +
                           "] while trying to trace operations " +
                           function.name,
                       context);
  };
  for (const Value& arg : args) visit_leaves(arg, visit);
  for (const auto& [key, arg] : kwargs) visit_leaves(arg, visit);
  return found;
}

// Records control flow with proxies of the compiler; nothing for other calls.
std::optional<Value> record_control(const Function& function,
                                    const ValueList& args,
                                    const Kwargs& kwargs) {
  const ControlFlow* const kind = find_control_flow(&function);
  if (!kind) return std::nullopt;
  ControlRecorder* recorder = nullptr;
  for (const Value& arg : args)
    visit_leaves(arg, [&](const Value& leaf) {
      if (!recorder && leaf.is_proxy())
        recorder = dynamic_cast<ControlRecorder*>(leaf.as_proxy());
    });
  if (!recorder) return std::nullopt;
  return recorder->record_control(control_call(*kind, args, kwargs));
}

bool is_leaf_now(const Function& function) {
  if (function.is_wrapped()) return true;
  const Tracer* const tracer = active_tracer();
  return tracer && tracer->autowraps(function);
}

}  // namespace

Wrapped wrap(std::string name, FunctionBody run, ops::Purity purity) {
  // As torch prints Python's own functions.
  if (is_illegal_name(name)) name.insert(0, "builtins.");
  return Wrapped(define_function(std::move(name), std::move(run), purity));
}

Wrapped wrap(const Wrapped& function) {
  function.function().set_wrapped();
  return Wrapped(function.function());
}

Wrapped wrap(std::string_view name) {
  const Function* found = find_defined_function(name);
  if (!found) found = find_defined_function("builtins." + std::string(name));
  if (!found) throw KeyError("'" + std::string(name) + "'");
  return wrap(Wrapped(*found));
}

Wrapped global_function(std::string name, FunctionBody run,
                        ops::Purity purity) {
  return Wrapped(define_function(std::move(name), std::move(run), purity),
                 /*leaf=*/false);
}

Value record_or_run(const Function& function, ValueList args, Kwargs kwargs,
                    SourceLocation source) {
  if (auto recorded = record_control(function, args, kwargs)) return *recorded;
  Proxy* const proxy = find_proxy(function, args, kwargs, source);
  if (!proxy) return function.run(args, kwargs);
  TracerBase& tracer = proxy->tracer();
  const SourceScope line(tracer, source);
  const Value result = tracer.create_proxy(Opcode::call_function, function,
                                           std::move(args), std::move(kwargs));
  node_of(result)->meta().set("is_wrapped", true);
  return result;
}

Value call_by_name(std::string_view name, ValueList args, Kwargs kwargs,
                   std::source_location at) {
  const std::optional<Target> target = find_callable(name);
  if (!target)
    throw NameError("name '" + std::string(name) + "' is not defined",
                    ErrorContext{std::string(name), "", "", at});
  if (const ops::Spelling* const spelling = target->spelling())
    return ops::call_function(*spelling, std::move(args), std::move(kwargs),
                              at);
  const Value result = record_or_run(*target->function(), std::move(args),
                                     std::move(kwargs), at);
  // What traces record by themselves is not wrapped.
  const PythonTargets& own = targets();
  const bool traced = *target == own.getattr || *target == own.torch_assert ||
                      *target == own.assert_fn || *target == own.assert_is_none;
  if (traced && result.is_proxy()) node_of(result)->meta().erase("is_wrapped");
  return result;
}

Value Wrapped::call(ValueList args, Kwargs kwargs,
                    SourceLocation source) const {
  if (!leaf_ && !is_leaf_now(*function_)) return function_->run(args, kwargs);
  return record_or_run(*function_, std::move(args), std::move(kwargs), source);
}

Value Wrapped::operator()(nn::CallArg a, nn::CallArg b, nn::CallArg c,
                          nn::CallArg d, nn::CallArg e, nn::CallArg f) const {
  auto [args, kwargs] = nn::present_values({&a, &b, &c, &d, &e, &f});
  return call(std::move(args), std::move(kwargs), a.source);
}

}  // namespace fxjit::fx
