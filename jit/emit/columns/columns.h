// The code skeleton of program::ColumnStep: reductions over other dims than the
// innermost, a block of columns at a time, without any horizontal operation.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/columns/form.h"

namespace fxjit::jit {

// Fills an empty function of type program::KernelFn; returns included. The
// call's data are the step's arguments.
void emit(VectorBuilder& b, const program::ColumnForm& form);

}  // namespace fxjit::jit
