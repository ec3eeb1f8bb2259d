// The form of a row step: what its generated code depends on. Everything else
// is an argument, so that batches and lengths of all sizes share a kernel.
#pragma once

#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/rows/code.h"
#include "src/program/steps/loop_form.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

struct RowStep;

// These are arguments and not part of the form:
// - the sizes of outer dims, of which a form has at least two, and their
//   strides. Kept in the form are strides of 0 along the last outer dim, and
//   that dim's size if a group takes all of its rows (LaneGroup);
// - the stride and the limit of gathers;
// - the stride along the row of crosswise operands and of rows in lanes;
// - the length of rows that are cut into chunks, and of rows without
//   reductions, except short rows of whole vectors.
struct RowForm {
  using Fn = KernelFn;

  LoopForm loops;
  ScalarBody body;
  RowCode code;
  // For each input, whether the code should prefetch it. Empty unless the body
  // has no reductions and is expensive.
  std::vector<bool> streams;
};

// The form of a step that was analysed.
RowForm row_form(const RowStep& step, CpuLevel level);

// Text that is equal for equal forms.
std::string form_key(const RowForm& form);

// The arguments of a step, in the order in which its code reads them from
// StepCall::data.
std::vector<int64_t> step_arguments(const RowStep& step);

}  // namespace fxjit::program
