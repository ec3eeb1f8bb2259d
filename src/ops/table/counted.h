// Calls that count: what a compiler may take from a longer row of numbers.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// For a call whose result is 0, 1, 2 ... below an integer argument, as arange(n)
// and arange(0, n) are: that argument. Null for others.
const Value* counted_end(const OpCall& call);

}  // namespace fxjit::ops
