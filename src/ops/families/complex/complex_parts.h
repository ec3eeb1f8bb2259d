// Complex numbers as tensors of their parts and back, for decompositions:
// arguments may be proxies.
#pragma once

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"

namespace fxjit::ops {

// Views of a complex tensor: its pairs [..., 2], its real and imaginary parts.
Value pairs_of(const Value& input);
Value real_of(const Value& input);
Value imag_of(const Value& input);

// From pairs, which are copied where they do not lie as pairs; from parts.
Value complex_of(const Value& pairs);
Value complex_of(const Value& real, const Value& imag);

// `value`, real or complex, as a complex tensor.
Value as_complex(const Value& value, DType dtype);

// x + i y as x - i y.
Value conjugate(const Value& input);

}  // namespace fxjit::ops
