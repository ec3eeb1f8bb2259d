#include "src/tensor/tensor_spec.h"

namespace fxjit {

TensorSpec spec_of(const Tensor& tensor) {
  return {tensor.dtype(), tensor.sizes(), tensor.strides()};
}

Tensor meta_of(const TensorSpec& spec) {
  return Tensor::meta(spec.sizes, spec.dtype, spec.strides);
}

}  // namespace fxjit
