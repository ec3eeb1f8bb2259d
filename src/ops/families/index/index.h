// How what index tensors pick lies in memory.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Strides of the result of index(input, indices).
Dims picked_strides(const OpCall& call);

}  // namespace fxjit::ops
