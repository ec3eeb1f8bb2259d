// Numbers and values as elements of a half type hold them, in bodies that
// compute in f32: for ops where torch makes an element of a number, or that
// jump, so that the places beyond the type's would decide.
#pragma once

#include "src/ops/families/elementwise/elementwise.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {

inline Scalar rounded_number(ScalarBuilder& b, double number, DType type) {
  return visit_dtype(type, [&](auto element) {
    using T = typename decltype(element)::type;
    const auto held = convert<ComputeOf<T>>(convert<T>(number));
    return b.constant(static_cast<double>(held), compute_dtype(type));
  });
}

// Argument `i` as an element of `type`.
inline Scalar as_element(ScalarBuilder& b, const OpCall& call, Inputs in,
                         size_t i, DType type) {
  if (call[i].is_number() && compute_dtype(type) != type)
    return rounded_number(b, call.number(i), type);
  return ScalarArgs(b, call, in).get(i, compute_dtype(type));
}

// No instruction for types that are computed in themselves.
inline Scalar rounded_value(ScalarBuilder& b, Scalar x, DType type) {
  return b.cast(b.cast(x, type), compute_dtype(type));
}

}  // namespace fxjit::ops
