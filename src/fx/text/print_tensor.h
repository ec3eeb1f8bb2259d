// A tensor's text as torch prints it: "tensor([1., 2.])". For printed graphs.
#pragma once

#include <string>

#include "fxjit/tensor.h"

namespace fxjit::fx {

// With torch's default print options. Of a large tensor only the elements that
// are shown are read.
std::string tensor_text(const Tensor& tensor);

}  // namespace fxjit::fx
