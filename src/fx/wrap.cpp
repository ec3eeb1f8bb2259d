#include "fxjit/fx/wrap.h"

#include "fxjit/fx/namespace.h"
#include "fxjit/fx/tracer_base.h"

namespace fxjit::fx {
namespace {

Proxy* find_proxy(const ValueList& args, const Kwargs& kwargs) {
  Proxy* found = nullptr;
  auto visit = [&](const Value& leaf) {
    if (leaf.is_proxy() && !found)
      found = dynamic_cast<Proxy*>(leaf.as_proxy());
  };
  for (const Value& arg : args) visit_leaves(arg, visit);
  for (const auto& [key, arg] : kwargs) visit_leaves(arg, visit);
  return found;
}

}  // namespace

Wrapped wrap(std::string name,
             std::function<Value(const ValueList&, const Kwargs&)> run,
             ops::Purity purity) {
  // As torch prints Python's own functions.
  if (is_illegal_name(name)) name.insert(0, "builtins.");
  return Wrapped(define_function(std::move(name), std::move(run), purity));
}

Value Wrapped::call(ValueList args, Kwargs kwargs,
                    SourceLocation source) const {
  Proxy* const proxy = find_proxy(args, kwargs);
  if (!proxy) return function_->run(args, kwargs);
  TracerBase& tracer = proxy->tracer();
  const SourceScope line(tracer, source);
  const Value result = tracer.create_proxy(Opcode::call_function, *function_,
                                           std::move(args), std::move(kwargs));
  node_of(result)->meta().set("is_wrapped", true);
  return result;
}

Value Wrapped::operator()(nn::CallArg a, nn::CallArg b, nn::CallArg c,
                          nn::CallArg d, nn::CallArg e, nn::CallArg f) const {
  ValueList args;
  Kwargs kwargs;
  for (nn::CallArg* arg : {&a, &b, &c, &d, &e, &f}) {
    if (!arg->present) continue;
    if (arg->name.empty()) {
      args.push_back(std::move(arg->value));
    } else {
      kwargs.emplace_back(std::move(arg->name), std::move(arg->value));
    }
  }
  return call(std::move(args), std::move(kwargs), a.source);
}

}  // namespace fxjit::fx
