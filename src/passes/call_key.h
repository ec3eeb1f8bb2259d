// Decides when two calls of a graph are equal, so that one of them is enough.
#pragma once

#include "fxjit/op.h"

namespace fxjit::passes {

// Whether two arguments are equal. Stricter than same(): 1, 1.0 and True
// differ.
bool identical(const Value& a, const Value& b);
bool identical(const ValueList& a, const ValueList& b);

// A hash that is equal for calls of one op with identical arguments.
size_t call_hash(const ops::Op& op, const ValueList& args);

}  // namespace fxjit::passes
