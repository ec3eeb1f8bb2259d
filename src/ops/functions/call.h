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

// As above with one option that torch takes by keyword only; None omits it.
Value call_with(const char* name, std::initializer_list<Arg> args,
                const char* keyword, const Arg& value);

}  // namespace fxjit::functions
