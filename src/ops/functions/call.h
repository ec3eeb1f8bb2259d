// How the free functions of fxjit/functions*.h make their calls. Their bodies
// are one line each; only they include this.
#pragma once

#include <initializer_list>

#include "fxjit/functions.h"
#include "fxjit/op.h"

namespace fxjit::functions {

// Calls by printed name; the location is that of the first argument unless
// given. Arguments at the end that are None are left out.
Value call(const char* name, std::initializer_list<Arg> args,
           SourceLocation source = {});

// As above with options that torch takes by keyword only; None omits one.
struct Option {
  const char* keyword;
  const Arg& value;
};
Value call_with(const char* name, std::initializer_list<Arg> args,
                std::initializer_list<Option> options);
Value call_typed(const char* name, std::initializer_list<Arg> args,
                 const Arg& dtype);

// Calls with these arguments as they are.
Value call_exactly(const char* name, ValueList args, SourceLocation source);

}  // namespace fxjit::functions
