// The arguments of a trace: placeholders, or the values they are fixed to.
#include <algorithm>

#include "fxjit/fx/pytree.h"
#include "fxjit/fx/tracer.h"
#include "fxjit/log.h"
#include "src/fx/text/print_value.h"
#include "src/fx/tracing/builtins.h"

namespace fxjit::fx {
namespace {

struct PlaceholderMark : Counted {
  std::string key;  // What PH was given; "" where it has no key.
};

const PlaceholderMark* as_mark(const Value& value) {
  return value.is_opaque()
             ? dynamic_cast<const PlaceholderMark*>(value.as_opaque())
             : nullptr;
}

std::string specialised_text(const std::string& name, const Value& value) {
  std::string text = name + " has been specialized to have value ";
  append_str(text, value);
  return text + " but got another value";
}

// What torch compares with ==: its base types but tensors.
bool can_be_asserted(const Value& value) {
  return value.is_number() || value.is_string() || value.is_dtype();
}

void warn_not_asserted(const std::string& name) {
  log(LogLevel::warning,
      "Was not able to add assertion to guarantee correct input " + name +
          " to specialized function. It is up to the user to make sure that "
          "your inputs match the inputs you specialized the function with.");
}

bool is_positional(const ConcreteArgs& concrete) {
  return !concrete.empty() && concrete[0].first.empty();
}

bool is_variadic(const nn::ArgSpec& spec) { return spec.name[0] == '*'; }

// Positional concrete arguments under the names of the arguments they are for.
ConcreteArgs named(const nn::Signature& signature,
                   const ConcreteArgs& positional) {
  ConcreteArgs result;
  for (const size_t i : signature.python_order()) {
    if (is_variadic(signature.args()[i])) break;
    result.emplace_back(signature.args()[i].name,
                        i < positional.size() ? positional[i].second : Value());
  }
  if (result.size() == positional.size()) return result;
  throw RuntimeError("Tracing expected " + std::to_string(result.size()) +
                     " arguments but got " + std::to_string(positional.size()) +
                     " concrete arguments");
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

Value PH(std::string ph_key) {
  auto* const mark = new PlaceholderMark;
  mark->key = std::move(ph_key);
  return Value::opaque(mark);
}

bool is_placeholder(const Value& value) { return as_mark(value) != nullptr; }

ConcreteArgs concrete_tuple(ValueList values) {
  ConcreteArgs positional;
  for (Value& value : values) positional.emplace_back("", std::move(value));
  return positional;
}

std::vector<Value> Tracer::create_args_for_root(
    const nn::Signature& signature, const ConcreteArgs& concrete_args) {
  const std::vector<nn::ArgSpec>& specs = signature.args();
  const bool positional = is_positional(concrete_args);
  const auto variadic = std::count_if(specs.begin(), specs.end(), is_variadic);
  // torch counts "self": a module takes nothing but "*args" here, a function
  // one argument before them.
  const auto declared = static_cast<std::ptrdiff_t>(specs.size()) - variadic +
                        (root_is_fresh_ ? 0 : 1);
  if (positional && variadic > 0 && declared == 1)
    return inputs_of_variadic(signature, concrete_args);
  const ConcreteArgs& concrete =
      positional ? named(signature, concrete_args) : concrete_args;
  std::vector<Value> bound(specs.size());
  for (const size_t i : signature.python_order())
    bound[i] = placeholder(specs[i], concrete);
  return bound;
}

// As many inputs as positional arguments are given; "*args" takes those for
// which nothing else is declared.
std::vector<Value> Tracer::inputs_of_variadic(const nn::Signature& signature,
                                              const ConcreteArgs& concrete) {
  ValueList inputs;
  for (const auto& [name, value] : concrete) {
    inputs.push_back(create_proxy(
        Opcode::placeholder, "input_" + std::to_string(inputs.size()), {}, {}));
    mark_placeholder(inputs.back(), value);
  }
  return signature.bind(inputs, {}, traced_func_name);
}

void Tracer::mark_placeholder(const Value& proxy, const Value& concrete) {
  const PlaceholderMark* const mark = as_mark(concrete);
  if (mark && !mark->key.empty())
    node_of(proxy)->meta().set("ph_key", mark->key);
}

Value Tracer::placeholder(const nn::ArgSpec& spec,
                          const ConcreteArgs& concrete) {
  const auto found = std::ranges::find(concrete, spec.name,
                                       &ConcreteArgs::value_type::first);
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
  if (TreeSpec::is_node(value))
    return tree_map(value, [&](const Value& leaf) {
      return specialise(spec, leaf, count);
    });
  ++*count;
  const Value out = create_proxy(Opcode::placeholder,
                                 spec.name + "_" + std::to_string(*count),
                                 default_args(spec), {});
  if (is_placeholder(value)) {
    mark_placeholder(out, value);
    return out;
  }
  const Value text = specialised_text(spec.name, value);
  if (value.is_none()) {
    create_proxy(Opcode::call_function, targets().assert_is_none, {out, text},
                 {});
  } else if (can_be_asserted(value)) {
    const Value equal = ops::call_function(ops::get_function("_operator.eq"),
                                           {out, value}, {}, source());
    create_proxy(Opcode::call_function, targets().torch_assert, {equal, text},
                 {});
  } else {
    warn_not_asserted(spec.name);
  }
  return value;
}

}  // namespace fxjit::fx
