// What a mask picks of a tensor.
#pragma once

#include "fxjit/tensor.h"

namespace fxjit::ops {

// The slices of `input` where `mask` is true, one after the other. The first
// dims of `input` are those of `mask`, of which there is one at least.
Tensor masked_rows(const Tensor& input, const Tensor& mask);

}  // namespace fxjit::ops
