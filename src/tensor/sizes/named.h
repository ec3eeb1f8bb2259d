// Whether values have named sizes in them (fxjit/size.h).
#pragma once

#include "fxjit/value.h"

namespace fxjit {

bool has_name(const Dims& dims);
// In its sizes, strides or offset.
bool has_name(const Tensor& tensor);
// As an integer or in a tensor.
bool has_name(const Value& value);

}  // namespace fxjit
