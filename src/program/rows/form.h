// What the code of a row step depends on.
#pragma once

#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/rows/code.h"
#include "src/program/steps/loop_form.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

struct RowStep;

// Sizes of outer dims, of which there are two at least, and their strides are
// arguments, but for strides of 0 of the last one, and for its size where a
// group takes all of it (LaneGroup); so are what gathers need
// and, of operands that lie crosswise or of rows that are computed side by
// side, the stride along the row; and the length of rows that are cut into
// chunks and of those without reductions, short ones of whole vectors aside.
struct RowForm {
  using Fn = KernelFn;

  LoopForm loops;
  ScalarBody body;
  RowCode code;
  // For heavy bodies without reductions: which inputs are worth fetching ahead.
  std::vector<bool> streams;
};

// Of a step that was analysed.
RowForm row_form(const RowStep& step, CpuLevel level);

// Text that is equal for equal forms.
std::string form_key(const RowForm& form);

// What the code of a step gets in StepCall::data.
std::vector<int64_t> step_arguments(const RowStep& step);

}  // namespace fxjit::program
