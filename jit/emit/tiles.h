// The contraction skeleton: register tiles over packed panels, with the
// epilogue applied while the sums are in registers or in the first-level cache.
// See program/packing.h for the layout and program/kernel_plan.h for the tasks.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/steps.h"

namespace fxjit::jit {

// Emits the kernel of `step` into the builder's function, whose arguments are
// those of program::KernelFn; micro-kernels become private functions of the
// same module, prefixed with the function's name.
void emit_tiles(VectorBuilder& b, const program::TileStep& step);

}  // namespace fxjit::jit
