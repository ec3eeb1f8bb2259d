// Decomposes calls with complex tensors. Nothing computes with complex numbers
// directly: a call becomes calls on tensors of real and imaginary parts, which
// are views of the complex tensor's memory.
#pragma once

#include <string_view>

#include "fxjit/op.h"

namespace fxjit::ops {

// How to decompose the call into calls on parts. Null if no tensor is complex,
// or if the row handles complex tensors itself (views, transforms). Throws
// NotImplementedError for other rows without a decomposition. Tensors may be
// meta.
DecomposeFn complex_form(const OpCall& call);

// Whether a tensor [..., 2] can be viewed as complex numbers: the two numbers
// of a pair lie side by side, and each pair begins at an even place.
bool holds_pairs(const Tensor& pairs);

// The decomposition for the row of this name, null if there is none.
DecomposeFn form_of_row(std::string_view name);
// The decomposition of rows that write their first argument: the result of the
// op that does not write is copied into it.
Value written_in_parts(const OpCall& call);
// Whether the row is no view and still handles complex tensors itself.
bool takes_complex(std::string_view name);

}  // namespace fxjit::ops
