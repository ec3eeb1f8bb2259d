// One loop per scalar primitive and compute type, over contiguous blocks.
#pragma once

#include <cstdint>

#include "fxjit/scalar_body.h"

namespace fxjit::ops {

// A block of `n` results from up to three argument blocks. `operand` is the
// dtype of the arguments (of args[1] for select), `instr.type` of the result.
void run_prim(const ScalarInstr& instr, DType operand,
              const void* const args[3], void* result, int64_t n);

}  // namespace fxjit::ops
