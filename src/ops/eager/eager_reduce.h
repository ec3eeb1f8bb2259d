// Generic eager reduction for rows with Lowering::reduce. Only eager.cpp calls
// it; rows with a shape of their own bring their own loop.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Reduces argument 0 over the dims of parameter "dim" (absent, None or empty:
// all) with the row's primitive; shape and dtype from the shape rule. Floats
// accumulate in double, integers in int64.
Value run_reduce(const OpCall& call);

}  // namespace fxjit::ops
