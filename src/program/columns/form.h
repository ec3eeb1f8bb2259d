// The form of a column step: what its generated code depends on.
#pragma once

#include <string>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/loop_form.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

struct ColumnStep;

// These are arguments and not part of the form: sizes of the outer dims, of
// which a form has at least one, and their strides; the stride and the limit of
// gathers; sizes of longer reduced dims and their strides; the count of
// columns; constants of the body.
struct ColumnForm {
  using Fn = KernelFn;

  LoopForm loops;
  ScalarBody body;
  // The number of the body's constants that are arguments, such as counts and
  // tolerances. They are the last inputs and lie behind the other arguments.
  int numbers = 0;
  int64_t block = 1;  // Columns of a task.
  // If the count of columns is an argument: whether there are blocks of full
  // width, how many vectors the narrower last block has (0 if there is none),
  // and whether the last of these is a partial one.
  bool whole_blocks = false;
  int rest_vectors = 0;
  bool rest_partial = false;
};

// The form of a step that was analysed.
ColumnForm column_form(const ColumnStep& step, CpuLevel level);

// Text that is equal for equal forms.
std::string form_key(const ColumnForm& form);

// The arguments of a step, in the order in which its code reads them from
// StepCall::data.
std::vector<int64_t> step_arguments(const ColumnStep& step);

// Columns that one task of a step with such a body covers, at most.
int64_t column_block(const ScalarBody& body, CpuLevel level);

}  // namespace fxjit::program
