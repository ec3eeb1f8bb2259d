// Complex numbers as tensors of their parts and back, for decompositions:
// arguments may be proxies.
#pragma once

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"

namespace fxjit::ops {

// A row of the op table and how its calls with complex tensors are decomposed
// into calls on real and imaginary parts.
struct ComplexForm {
  std::string_view row;
  DecomposeFn form;
};
// The decompositions of arithmetic, of reductions, and of rows that handle each
// part alone.
std::span<const ComplexForm> arithmetic_forms();

// A call with one argument for each of the op's first parameters.
Value call_op(const Op& op, std::span<const Value> args);

bool is_tensor(const Value& value);  // Or a proxy of one.
bool is_complex_tensor(const Value& value);

// Views of a complex tensor: its numbers as pairs [..., 2], its real parts, its
// imaginary parts.
Value pairs_of(const Value& input);
Value real_of(const Value& input);
Value imag_of(const Value& input);

// A complex tensor: a view of `pairs` if pairs lie side by side, else a copy;
// or a copy of real and imaginary parts.
Value complex_of(const Value& pairs);
Value complex_of(const Value& real, const Value& imag);

// `value`, real or complex, as a complex tensor.
Value as_complex(const Value& value, DType dtype);

// Which elements are not 0, as bools; the absolute value of each.
Value truth_of(const Value& input);
Value magnitude_of(const Value& input);

// x + i y as x - i y.
Value conjugate(const Value& input);

}  // namespace fxjit::ops
