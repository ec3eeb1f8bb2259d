// Strides of results, one rule for each Layout: what is innermost in memory.
// Only layouts.cpp includes it.
#pragma once

#include <vector>

#include "src/ops/table/layouts.h"

namespace fxjit::ops {

// Strides of `result`, a tensor that the call made; `tensors` are those of its
// arguments, in order, at least one unless its layout is asked for.
Dims strides_for(Layout layout, const OpCall& call,
                 const std::vector<Tensor>& tensors, const Tensor& result);

}  // namespace fxjit::ops
