#include "tools/fxjit/doubles.h"

#include "fxjit/functions.h"

namespace fxjit::command {

Tensor doubles_of(const Tensor& tensor) {
  const Tensor real =
      is_complex(tensor.dtype())
          ? function("torch.view_as_real", {tensor}).as_tensor()
          : tensor;
  return real.to(DType::f64).contiguous();
}

}  // namespace fxjit::command
