// A call of an op as plain data: which op, with which arguments, and which code
// computes it. The planner writes it; the bind stage makes code of it.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"
#include "src/program/rows/step.h"
#include "src/program/steps/call_code.h"
#include "src/tensor/tensor_spec.h"

namespace fxjit::program {

// Operands of the step: the tensors of `args` in order of appearance, then
// those of `results`.
struct CallSpec {
  CallCode code = CallCode::eager;
  std::string op;     // Its name in the op table.
  ValueList args;     // Tensors are meta tensors.
  ValueList results;  // Meta tensors.
  // The generated part of a convolution's epilogue (convolution/tail.h), as a
  // row step; empty if there is none.
  std::vector<RowStep> tail;

  friend bool operator==(const CallSpec& a, const CallSpec& b);
};

// Whether two arguments are equal: numbers of one type with equal bits, meta
// tensors with equal dtypes, sizes and strides.
bool equal_specs(const Value& a, const Value& b);
bool equal_specs(const ValueList& a, const ValueList& b);

}  // namespace fxjit::program
