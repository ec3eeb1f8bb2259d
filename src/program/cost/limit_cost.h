// What primitives cost at the least, for the yardstick of profiles. Decisions
// about code go by prim_cost, which is rougher.
#pragma once

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"

namespace fxjit::program {

// Vector multiply-adds of f32 that take the time of `prim` on as many elements:
// half of one for what may be part of a multiply-add.
double limit_cost(Prim prim, CpuLevel level);

}  // namespace fxjit::program
