// Rows of steps that copy between orders of memory. Used when steps are
// planned.
#pragma once

#include "src/program/rows/step.h"

namespace fxjit::program {

// Where an operand's neighbouring rows lie together, not its neighbouring
// elements, a group of rows is turned in scratch (see rows/code.h), which long
// rows outgrow. Cuts them into equal pieces where nothing depends on a row as a
// whole.
void cut_long_rows(RowStep& step);

}  // namespace fxjit::program
