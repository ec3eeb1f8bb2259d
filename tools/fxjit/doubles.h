// The numbers of tensors as doubles, for printing and comparing.
#pragma once

#include "fxjit/tensor.h"

namespace fxjit::command {

// A contiguous f64 tensor; of complex tensors with a last dim of two more, the
// real and the imaginary part.
Tensor doubles_of(const Tensor& tensor);

}  // namespace fxjit::command
