#include "src/ops/functions/call.h"

namespace fxjit::functions {
namespace {

// The arguments without those at the end that were not given. One in the middle
// that was not given takes the schema's default.
ValueList given_values(const ops::Op& op, std::initializer_list<Arg> args) {
  ValueList values;
  for (const Arg& arg : args) values.push_back(arg.value);
  while (values.size() > 1 && values.back().is_none()) values.pop_back();
  for (size_t i = 0; i < values.size() && i < op.parameters.size(); ++i)
    if (values[i].is_none() && op.parameters[i].has_default)
      values[i] = op.parameters[i].default_value;
  return values;
}

}  // namespace

Value call(const char* name, std::initializer_list<Arg> args,
           SourceLocation source) {
  const ops::Spelling& function = ops::get_function(name);
  return ops::call_function(function, given_values(*function.op, args), {},
                            source.known() ? source : args.begin()->source);
}

Value call_with(const char* name, std::initializer_list<Arg> args,
                std::initializer_list<Option> options) {
  const ops::Spelling& function = ops::get_function(name);
  Kwargs kwargs;
  for (const auto& [keyword, value] : options)
    if (!value.value.is_none()) kwargs.emplace_back(keyword, value.value);
  return ops::call_function(function, given_values(*function.op, args),
                            std::move(kwargs), args.begin()->source);
}

Value call_typed(const char* name, std::initializer_list<Arg> args,
                 const Arg& dtype) {
  return call_with(name, args, {{"dtype", dtype}});
}

Value call_exactly(const char* name, ValueList args, SourceLocation source) {
  return ops::call_function(ops::get_function(name), std::move(args), {},
                            source);
}

}  // namespace fxjit::functions
