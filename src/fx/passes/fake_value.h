// Tensors without data that run through any code: a fake is a proxy that
// computes the shape of every call made on it instead of recording the call.
// Modules and wrapped functions are simply run on fakes.
#pragma once

#include "fxjit/fx/target.h"
#include "fxjit/value.h"

namespace fxjit::fx::passes {

// `value` with every tensor replaced by a fake of its shape.
Value fake_of(const Value& value);
// `value` with every fake replaced by a meta tensor.
Value without_fakes(const Value& value);
// What Interpreter::call_function does, on fakes.
Value call_on_fakes(const Target& target, const ValueList& args,
                    const Kwargs& kwargs, SourceLocation source);

}  // namespace fxjit::fx::passes
