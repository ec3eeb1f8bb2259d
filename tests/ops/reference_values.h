// What the readers of reference files share: elements in base64, and comparing
// elements. For the sources of this folder.
#pragma once

#include <string>

#include "fxjit/value.h"

namespace fxjit::testing {

std::string decode_base64(const std::string& text);
// UserError for another name.
DType dtype(const std::string& name);
// UserError if the bytes are not those of such a tensor.
Tensor tensor_of(const std::string& base64, DType type, const Dims& sizes);

struct Tolerance {
  double relative, absolute;
};

// Empty, or the first element that is further away; NaN equals NaN, infinities
// are exact. Sizes are equal.
std::string first_difference(const Tensor& got, const Tensor& expected,
                             const Tolerance& allowed);

}  // namespace fxjit::testing
