// What a row or column step should compute, evaluated element by element with
// the standard library in double (integers exactly). Independent of the
// library's own evaluators.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "src/program/steps/steps.h"
#include "tests/jit/prim_oracle.h"

namespace fxjit::jit::testing {

// One element of an output.
struct Expected {
  size_t output;
  int64_t offset;  // In elements from the operand's first.
  Number number;   // In the dtype of the body's result.
  DType type;      // That dtype.
};

using Operands = std::vector<const void*>;

// Every element that the step writes, in order; later ones win. Gathered
// indices outside the table read row 0.
std::vector<Expected> expected_results(const program::RowStep& step,
                                       const Operands& operands);
std::vector<Expected> expected_results(const program::ColumnStep& step,
                                       const Operands& operands);

}  // namespace fxjit::jit::testing
