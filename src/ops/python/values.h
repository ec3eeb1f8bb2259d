// Elementwise ops called on plain Python values: sizes are multiplied, tuples
// joined, numbers compared in user code that also handles tensors. Those that
// are Python's operators do what Python does (operators.h); other
// functions of torch (`exp`, `clamp`) compute on numbers in double precision.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// The call's result by Python's rules. No argument holds a tensor. Throws
// TypeError with Python's wording when the kinds do not fit.
Value python_value_op(const OpCall& call);

}  // namespace fxjit::ops
