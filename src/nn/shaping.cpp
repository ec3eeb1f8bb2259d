#include "fxjit/nn/shaping.h"

#include "fxjit/functions_structured.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

namespace {

// torch keeps factors as floats.
Value as_floats(const Value& factor) {
  if (factor.is_none()) return factor;
  if (factor.is_number()) return factor.as_double();
  ValueList factors;
  for (const Value& each : factor.as_sequence())
    factors.push_back(each.as_double());
  return Value::tuple(std::move(factors));
}

}  // namespace

Upsample::Upsample(Value size, Value scale_factor, std::string mode,
                   Value align_corners)
    : Custom("Upsample", {"input"}),
      size(std::move(size)),
      scale_factor(as_floats(scale_factor)),
      mode(std::move(mode)),
      align_corners(std::move(align_corners)) {}

Value Upsample::forward(Value input) {
  return functional::interpolate(input, size, scale_factor, mode,
                                 align_corners);
}

std::string Upsample::extra_repr() const {
  return (scale_factor.is_none() ? "size=" + py(size)
                                 : "scale_factor=" + py(scale_factor)) +
         ", mode=" + py(Value(mode));
}

Unflatten::Unflatten(int64_t dim, const Dims& unflattened_size)
    : Custom("Unflatten", {"input"}),
      dim(dim),
      unflattened_size(unflattened_size) {}

Value Unflatten::forward(Value input) {
  return method(input, "unflatten", {dim, size_tuple(unflattened_size)});
}

std::string Unflatten::extra_repr() const {
  return "dim=" + py(Value(dim)) + ", unflattened_size=" + py(unflattened_size);
}

}  // namespace fxjit::nn
