// The skeleton of Winograd convolutions: see program/winograd.h for the blocks
// and layouts, program/kernel_plan.h for the tasks.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/steps.h"

namespace fxjit::jit {

// Emits the kernel of `step` into the builder's function, whose arguments are
// those of program::KernelFn; its parts become private functions of the same
// module, prefixed with the function's name.
void emit_winograd(VectorBuilder& b, const program::WinogradStep& step);

}  // namespace fxjit::jit
