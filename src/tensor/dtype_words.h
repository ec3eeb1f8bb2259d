// Other words for element types than dtype_name.
#pragma once

#include "fxjit/dtype.h"

namespace fxjit {

struct DTypeWords {
  const char* brief;     // "f32", as torch.fx abbreviates types.
  const char* of_class;  // "Float", as in torch.FloatTensor.
  const char* cpp;       // "float", as torch's errors name the C++ type.
};

const DTypeWords& dtype_words(DType dtype);

}  // namespace fxjit
