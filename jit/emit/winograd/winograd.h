// The skeleton of Winograd convolutions: see program/winograd/shape.h for the
// blocks, layouts and tasks.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/winograd/form.h"

namespace fxjit::jit {

// Emits the kernel of steps of `form` into the builder's function, whose
// arguments are those of program::KernelFn, with program::winograd_numbers() as
// the call's data; its parts become private functions of the same module,
// prefixed with the function's name.
void emit(VectorBuilder& b, const program::WinogradForm& form);

}  // namespace fxjit::jit
