// What a tensor is without its numbers, as a plain value: programs and packed
// weights say so what their operands look like.
#pragma once

#include "fxjit/tensor.h"

namespace fxjit {

struct TensorSpec {
  DType dtype = DType::f32;
  Dims sizes;
  Dims strides;  // In elements.

  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

TensorSpec spec_of(const Tensor& tensor);
Tensor meta_of(const TensorSpec& spec);

}  // namespace fxjit
