// When two calls of a graph are the same call, so that one is enough.
#pragma once

#include "fxjit/op.h"

namespace fxjit::passes {

// Stricter than same(): 1 and 1.0 and True are different arguments here.
bool identical(const Value& a, const Value& b);
bool identical(const ValueList& a, const ValueList& b);

// Equal for the same op with identical arguments.
size_t call_hash(const ops::Op& op, const ValueList& args);

}  // namespace fxjit::passes
