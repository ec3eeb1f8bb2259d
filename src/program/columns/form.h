// What the code of a column step depends on.
#pragma once

#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/loop_form.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

struct ColumnStep;

// Sizes of outer dims, of which there is one at least, and their strides are
// arguments; so are what gathers need, sizes of reduced dims above some, and
// their strides; the count of columns; and numbers of the body.
struct ColumnForm {
  using Fn = KernelFn;

  LoopForm loops;
  ScalarBody body;
  // The last inputs are that many numbers of the body, which lie behind the
  // step's other arguments: counts and tolerances.
  int numbers = 0;
  int64_t block = 1;  // Columns of a task.
  // Where the count of columns is an argument: whether there are whole blocks,
  // and the vectors of the last block if it is a smaller one, whose last vector
  // may be partial.
  bool whole_blocks = false;
  int rest_vectors = 0;
  bool rest_partial = false;
};

// Of a step that was analysed.
ColumnForm column_form(const ColumnStep& step, CpuLevel level);

// Text that is equal for equal forms.
std::string form_key(const ColumnForm& form);

// What the code of a step gets in StepCall::data.
std::vector<int64_t> step_arguments(const ColumnStep& step);

// Columns that one task of a step with such a body covers, at most.
int64_t column_block(const ScalarBody& body, CpuLevel level);

}  // namespace fxjit::program
