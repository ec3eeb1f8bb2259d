// Complex numbers as tensors of their parts and back, for decompositions:
// arguments may be proxies.
#pragma once

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"

namespace fxjit::ops {

// How a row's calls with complex tensors are made of calls on their parts.
struct ComplexForm {
  std::string_view row;
  DecomposeFn form;
};
// Those of arithmetic, reductions and what goes part by part.
std::span<const ComplexForm> arithmetic_forms();

// A call with one argument for each of the op's first parameters.
Value call_op(const Op& op, std::span<const Value> args);

bool is_tensor(const Value& value);  // Or a proxy of one.
bool is_complex_tensor(const Value& value);

// Views of a complex tensor: its pairs [..., 2], its real and imaginary parts.
Value pairs_of(const Value& input);
Value real_of(const Value& input);
Value imag_of(const Value& input);

// From pairs, which are copied where they do not lie as pairs; from parts.
Value complex_of(const Value& pairs);
Value complex_of(const Value& real, const Value& imag);

// `value`, real or complex, as a complex tensor.
Value as_complex(const Value& value, DType dtype);

// Which elements are not 0; how large each is.
Value truth_of(const Value& input);
Value magnitude_of(const Value& input);

// x + i y as x - i y.
Value conjugate(const Value& input);

}  // namespace fxjit::ops
