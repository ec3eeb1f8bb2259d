// The code skeleton of program::RowStep: elementwise loops, row reductions and
// everything built of them (softmax, norms), one row after the other.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/rows/form.h"

namespace fxjit::jit {

// Fills an empty function of type program::KernelFn; returns included. The
// call's data are the step's arguments.
void emit(VectorBuilder& b, const program::RowForm& form);

}  // namespace fxjit::jit
