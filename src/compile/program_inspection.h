// What inspect() says of one compiled program, times aside.
#pragma once

#include "fxjit/inspection.h"
#include "src/compile/compiled_shape.h"

namespace fxjit {

// Steps have neither `profile` nor `kernels`; the step of a node that stays with
// the interpreter is left out.
ProgramInspection inspect_program(const CompiledShape& shape);

}  // namespace fxjit
