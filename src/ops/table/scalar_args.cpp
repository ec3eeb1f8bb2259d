#include "fxjit/scalar_args.h"

namespace fxjit::ops {

Scalar ScalarArgs::get(size_t i, DType type) const {
  const Value& arg = call_.args[i];
  if (arg.is_tensor()) {
    size_t position = 0;
    for (size_t k = 0; k < i; ++k) position += call_.args[k].is_tensor();
    return builder_.cast(inputs_[position], type);
  }
  // What bodies are asked for is the same for all values of a named size; code
  // is made of numbers.
  if (arg.is_named_size()) {
    const int64_t present = hint(arg.as_size());
    return is_floating(type)
               ? builder_.constant(static_cast<double>(present), type)
               : builder_.constant_int(
                     type == DType::boolean ? present != 0 : present, type);
  }
  if (is_floating(type) || arg.is_float())
    return builder_.constant(call_.number(i), type);
  if (type == DType::boolean)
    return builder_.constant_int(call_.integer(i) != 0, type);
  return builder_.constant_int(call_.integer(i), type);
}

}  // namespace fxjit::ops
