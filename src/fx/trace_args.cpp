// The arguments of a trace: placeholders, or the values they are fixed to.
#include <algorithm>

#include "fxjit/fx/tracer.h"
#include "src/fx/builtins.h"
#include "src/fx/print_value.h"

namespace fxjit::fx {
namespace {

struct PlaceholderMark : Counted {};

std::string specialised_text(const std::string& name, const Value& value) {
  std::string text = name + " has been specialized to have value ";
  append_str(text, value);
  return text + " but got another value";
}

bool is_container(const Value& value) {
  return value.is_sequence() || value.is_dict();
}

ValueList default_args(const nn::ArgSpec& spec) {
  if (!spec.default_value) return {};
  return {*spec.default_value};
}

}  // namespace

Value PH() {
  static const Value mark = Value::opaque(new PlaceholderMark);
  return mark;
}

bool is_placeholder(const Value& value) {
  return value.is_opaque() &&
         dynamic_cast<PlaceholderMark*>(value.as_opaque()) != nullptr;
}

std::vector<Value> Tracer::create_args_for_root(
    const nn::Signature& signature, const ConcreteArgs& concrete_args) {
  // Python's order of variables: "*args" and "**kwargs" come last.
  const std::vector<nn::ArgSpec>& specs = signature.args();
  std::vector<Value> bound(specs.size());
  for (size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name[0] != '*')
      bound[i] = placeholder(specs[i], concrete_args);
  for (size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name[0] == '*')
      bound[i] = placeholder(specs[i], concrete_args);
  return bound;
}

Value Tracer::placeholder(const nn::ArgSpec& spec,
                          const ConcreteArgs& concrete) {
  const auto found =
      std::find_if(concrete.begin(), concrete.end(),
                   [&](const auto& entry) { return entry.first == spec.name; });
  if (found != concrete.end()) {
    int count = 0;
    return specialise(spec, found->second, &count);
  }
  return create_proxy(Opcode::placeholder, spec.name, default_args(spec), {});
}

// A placeholder for every leaf of `value`, and an assertion that it is called
// with the value given here.
Value Tracer::specialise(const nn::ArgSpec& spec, const Value& value,
                         int* count) {
  if (is_container(value))
    return map_leaves(value, [&](const Value& leaf) {
      return specialise(spec, leaf, count);
    });
  ++*count;
  const Value out = create_proxy(Opcode::placeholder,
                                 spec.name + "_" + std::to_string(*count),
                                 default_args(spec), {});
  if (is_placeholder(value)) return out;
  const Value text = specialised_text(spec.name, value);
  if (value.is_none()) {
    create_proxy(Opcode::call_function, assert_is_none_target(), {out, text},
                 {});
  } else if (!value.is_tensor()) {
    const Value equal = ops::call_function(ops::get_function("_operator.eq"),
                                           {out, value}, {}, source());
    create_proxy(Opcode::call_function, assert_target(), {equal, text}, {});
  }
  return value;
}

}  // namespace fxjit::fx
