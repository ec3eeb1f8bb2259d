#include "src/fx/builtins.h"

#include "fxjit/error.h"

namespace fxjit::fx {
namespace {

using Run = Value (*)(const ValueList& args, const Kwargs& kwargs);

// The op table's function of this name, or a function of ours.
Target find_or_define(const char* name, Run run, ops::Purity purity) {
  if (const ops::Spelling* known = ops::find_function(name)) return *known;
  return define_function(name, run, purity);
}

Value tuple_of(const Dims& dims) {
  return Value::tuple(ValueList(dims.begin(), dims.end()));
}

Value run_getattr(const ValueList& args, const Kwargs&) {
  const Value& value = args.at(0);
  const std::string name(args.at(1).as_string());
  if (value.is_tensor()) {
    const Tensor& tensor = value.as_tensor();
    if (name == "shape") return tuple_of(tensor.sizes());
    if (name == "dtype") return tensor.dtype();
    if (name == "ndim") return tensor.dim();
    if (name == "T" || name == "mT")
      return ops::call_method(name == "T" ? "t" : "mT", {value});
    if (name == "is_cuda" || name == "requires_grad") return false;
  }
  if (args.size() > 2) return args[2];
  throw AttributeError("'" + std::string(value.kind_name()) +
                       "' object has no attribute '" + name + "'");
}

Value run_assert(const ValueList& args, const Kwargs&) {
  if (!static_cast<bool>(args.at(0)))
    throw AssertionError(std::string(args.at(1).as_string()));
  return None;
}

Value run_assert_fn(const ValueList& args, const Kwargs&) {
  if (!static_cast<bool>(args.at(0))) throw AssertionError("Assertion failed");
  return None;
}

Value run_assert_is_none(const ValueList& args, const Kwargs&) {
  if (!args.at(0).is_none())
    throw AssertionError(std::string(args.at(1).as_string()));
  return None;
}

}  // namespace

const Target& getattr_target() {
  static const Target target =
      find_or_define("builtins.getattr", run_getattr, ops::Purity::pure);
  return target;
}

const Target& assert_target() {
  static const Target target =
      find_or_define("torch._assert", run_assert, ops::Purity::effect);
  return target;
}

const Target& assert_fn_target() {
  static const Target target = find_or_define(
      "torch.fx.proxy.assert_fn", run_assert_fn, ops::Purity::effect);
  return target;
}

const Target& assert_is_none_target() {
  static const Target target =
      find_or_define("torch.fx._symbolic_trace._assert_is_none",
                     run_assert_is_none, ops::Purity::effect);
  return target;
}

Value run_target(const Target& target, const ValueList& args,
                 const Kwargs& kwargs, SourceLocation source) {
  if (const Function* function = target.function())
    return function->run(args, kwargs);
  return ops::call_function(*target.spelling(), args, kwargs, source);
}

}  // namespace fxjit::fx
