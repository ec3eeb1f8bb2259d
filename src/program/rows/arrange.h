// Which dims of a row step are walked in which order. Used when a row step is
// analysed, before its code is decided.
#pragma once

#include "src/program/steps/machine.h"

namespace fxjit::program {

struct RowStep;

// Changes the order of the outer dims, and where nothing is reduced the dim of
// the rows, if an operand that is read or written one cache line an element
// then lies crosswise (code.h) and all others have dense rows; or if rows are
// too short to be turned, to those of their neighbours. The step computes the
// same.
void arrange_dims(RowStep& step, const Machine& machine);

}  // namespace fxjit::program
