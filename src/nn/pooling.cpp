#include "fxjit/nn/pooling.h"

namespace fxjit::nn {

Value MaxPoolBase::or_kernel(const Argument& stride) const {
  if (stride.value.is_none()) stride.value = kernel_size;
  return stride.value;
}

Value AvgPoolBase::sizes(const Argument& given) const {
  if (given.value.is_none() && given.name == "stride")
    given.value = kernel_size;
  if (given.value.is_int() && dims() == 1)
    given.value = Value::tuple({given.value});
  return given.value;
}

}  // namespace fxjit::nn
