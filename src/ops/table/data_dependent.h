// The answer of a shape rule for calls whose result, or its size, depends on
// the numbers of its tensors: nonzero, masks, item. Compiled modules run such a
// call by the op's eager function, between two programs
// (src/compile/staged_run.h).
#pragma once

#include "fxjit/error.h"

namespace fxjit::ops {

class DataDependentError : public NotImplementedError {
 public:
  using NotImplementedError::NotImplementedError;
};

}  // namespace fxjit::ops
