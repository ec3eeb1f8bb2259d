// What functions that make new tensors share: their options and sizes. Used by
// the families of creation.cpp and random.cpp.
#pragma once

#include "fxjit/op.h"

// Options that do not matter here (layout, pin_memory, ...) are taken and
// ignored.
#define FXJIT_TENSOR_OPTIONS                                    \
  "dtype=None, layout=None, device=None, requires_grad=False, " \
  "pin_memory=None, out=None, memory_format=None"

namespace fxjit::ops {

// The dtype among the options from argument `i` on; the device is the CPU.
DType options_dtype(const OpCall& call, size_t i, DType fallback);
// Sizes, none of which is negative.
Dims sizes_arg(const OpCall& call, size_t i);

}  // namespace fxjit::ops
