#include "src/fx/tracing/builtins.h"

#include <algorithm>
#include <iterator>

#include "fxjit/error.h"
#include "src/ops/python/items.h"

namespace fxjit::fx {
namespace {

using Run = Value (*)(const ValueList& args, const Kwargs& kwargs);

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

Value run_len(const ValueList& args, const Kwargs&) {
  const Value& value = args.at(0);
  if (value.is_tensor()) return ops::call_method("__len__", {value});
  return ops::python::length(value);
}

// No op: compiled code sees its inputs from their first element on.
Value run_storage_offset(const ValueList& args, const Kwargs& kwargs) {
  return ops::call_method("storage_offset", args, kwargs);
}

struct Row {
  const char* name;
  Run run;
  ops::Purity purity = ops::Purity::pure;
  bool sizes_only = false;  // All it reads of tensors are their sizes.
};
constexpr Row kRows[] = {
    {.name = "builtins.len", .run = run_len, .sizes_only = true},
    {"torch.ops.aten.sym_storage_offset.default", run_storage_offset},
    {"torch._assert", run_assert, ops::Purity::effect},
    {"torch.fx.proxy.assert_fn", run_assert_fn, ops::Purity::effect},
    {"torch.fx._symbolic_trace._assert_is_none", run_assert_is_none,
     ops::Purity::effect},
};

const Row* find_row(std::string_view name) {
  const auto* const found = std::ranges::find(kRows, name, &Row::name);
  return found == std::end(kRows) ? nullptr : found;
}

// The op table's function of this name, or a function of ours.
Target find(const char* name) {
  if (const ops::Spelling* known = ops::find_function(name)) return *known;
  return *find_defined_function(name);
}

}  // namespace

void visit_python_functions(const DefineFunction& define) {
  for (const Row& row : kRows)
    if (!ops::find_function(row.name)) define(row.name, row.run, row.purity);
  visit_math_functions(define);
  visit_size_functions(define);
  visit_operator_functions(define);
  visit_control_functions(define);
}

const PythonTargets& targets() {
  static const PythonTargets targets{
      .getattr = find("builtins.getattr"),
      .torch_assert = find("torch._assert"),
      .assert_fn = find("torch.fx.proxy.assert_fn"),
      .assert_is_none = find("torch.fx._symbolic_trace._assert_is_none"),
      .len = find("builtins.len"),
      .setitem = find("_operator.setitem")};
  return targets;
}

bool reads_sizes_only(const Function& function) {
  const Row* const row = find_row(function.name);
  return row && row->sizes_only;
}

std::optional<Target> find_callable(std::string_view name) {
  if (const ops::Spelling* spelling = ops::find_function(name))
    return *spelling;
  if (const ops::Op* op = ops::find_op(name)) return op->canonical;
  if (const Function* function = find_defined_function(name)) return *function;
  return std::nullopt;
}

bool is_python_function(std::string_view name) {
  return find_row(name) || name.starts_with("math.") ||
         name.starts_with("_operator.") || name.starts_with("torch.sym_");
}

Value run_target(const Target& target, const ValueList& args,
                 const Kwargs& kwargs, SourceLocation source) {
  if (const Function* function = target.function())
    return function->run(args, kwargs);
  return ops::call_function(*target.spelling(), args, kwargs, source);
}

}  // namespace fxjit::fx
