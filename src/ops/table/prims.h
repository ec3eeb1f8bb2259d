// What primitives cost. Their names and arities are in fxjit/scalar_body.h.
#pragma once

#include "fxjit/scalar_body.h"

namespace fxjit {

// What one element costs, in operations of a vector: 1 for an addition. Rough;
// decides whether a value is kept or computed again.
int prim_cost(Prim prim);

}  // namespace fxjit
