// A call of an op as a plain value: which op, with which arguments, computed by
// which code. Written by the planner; the bind stage makes code of it.
#pragma once

#include <string>
#include <vector>

#include "fxjit/value.h"
#include "src/program/rows/step.h"
#include "src/program/steps/call_code.h"
#include "src/tensor/tensor_spec.h"

namespace fxjit::program {

// The operands of the step are the tensors of `args` in order of appearance,
// then `results`.
struct CallSpec {
  CallCode code = CallCode::eager;
  std::string op;     // Its name in the op table.
  ValueList args;     // Tensors are meta tensors.
  ValueList results;  // Meta tensors.
  // What is generated of a convolution's epilogue (convolution/tail.h).
  std::vector<RowStep> tail;

  friend bool operator==(const CallSpec& a, const CallSpec& b);
};

// Whether two arguments say the same: numbers of one type and equal bits, meta
// tensors of equal type, sizes and strides.
bool equal_specs(const Value& a, const Value& b);
bool equal_specs(const ValueList& a, const ValueList& b);

}  // namespace fxjit::program
