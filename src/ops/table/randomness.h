// Which calls draw random numbers. Used by what merges, folds, orders or
// removes calls.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// A row of Purity::random draws, unless it has a parameter "training" that is
// False.
bool draws_numbers(const OpCall& call);

}  // namespace fxjit::ops
