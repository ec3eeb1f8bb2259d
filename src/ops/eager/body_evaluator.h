// Runs a scalar body over strided tensors, block by block: every instruction
// is one tight loop over a block that stays in the first-level cache. Used by
// eager functions and as the reference for generated code.
#pragma once

#include <span>

#include "fxjit/scalar_body.h"
#include "fxjit/tensor.h"

namespace fxjit::ops {

// Inputs broadcast to the common shape of the outputs, which are contiguous and
// overlap no input.
// Input and output slots agree with the body's types up to f16/bf16 held as
// f32. Bodies with reductions are refused (InternalError). Integer division by
// zero throws RuntimeError("ZeroDivisionError").
void evaluate_body(const ScalarBody& body, std::span<const Tensor> inputs,
                   std::span<const Tensor> outputs);

}  // namespace fxjit::ops
