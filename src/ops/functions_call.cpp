#include "src/ops/functions_call.h"

namespace fxjit::functions {
namespace {

ValueList values_of(std::initializer_list<Arg> args) {
  ValueList values;
  for (const Arg& arg : args) values.push_back(arg.value);
  return values;
}

}  // namespace

Value call(const char* name, std::initializer_list<Arg> args,
           SourceLocation source) {
  ValueList values = values_of(args);
  while (values.size() > 1 && values.back().is_none()) values.pop_back();
  return ops::call_function(ops::get_function(name), std::move(values), {},
                            source.known() ? source : args.begin()->source);
}

Value call_with(const char* name, std::initializer_list<Arg> args,
                const char* keyword, const Arg& value) {
  Kwargs kwargs;
  if (!value.value.is_none()) kwargs.emplace_back(keyword, value.value);
  return ops::call_function(ops::get_function(name), values_of(args),
                            std::move(kwargs), args.begin()->source);
}

}  // namespace fxjit::functions
