#include "fxjit/nn/shaping.h"

#include "fxjit/functions_structured.h"
#include "src/ops/python/items.h"

namespace fxjit::nn {

Value Upsample::as_floats(const Argument& given) {
  if (given.value.is_none()) return None;
  if (given.value.is_number()) return given.value = given.value.as_double();
  ValueList factors;
  for (const Value& each : given.value.as_sequence())
    factors.push_back(each.as_double());
  return given.value = Value::tuple(std::move(factors));
}

Value Upsample::forward(Value input) {
  return functional::interpolate(input, size, scale_factor, mode,
                                 align_corners);
}

std::string Upsample::extra_repr() const {
  return (scale_factor.is_none()
              ? "size=" + fxjit::repr(size)
              : "scale_factor=" + fxjit::repr(scale_factor)) +
         ", mode=" + fxjit::repr(mode);
}

Value Unflatten::forward(Value input) {
  return method(input, "unflatten",
                {dim, ops::python::size_tuple(unflattened_size)});
}

}  // namespace fxjit::nn
