// Eager functions along one dim that the generic reduction does not cover.
// Called by the rows in reductions.cpp.
#pragma once

#include "fxjit/tensor.h"

namespace fxjit::ops {

// Position along `axis` of the first greatest (or least) element; the first NaN
// wins over all. `out` is contiguous int64 with one element per line.
void arg_extremum(const Tensor& input, int axis, bool greatest,
                  const Tensor& out);

// Running sums along `axis`; `input` and the contiguous `out` have one shape
// and one dtype of loops.
void cumulative_sum(const Tensor& input, int axis, const Tensor& out);

}  // namespace fxjit::ops
