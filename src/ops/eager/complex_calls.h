// Calls with complex tensors. Complex numbers are storage: what is calculated
// with them is calculated with tensors of their real and imaginary parts, which
// are views of the same memory.
#pragma once

#include <string_view>

#include "fxjit/op.h"

namespace fxjit::ops {

// How a call with complex tensors is made of calls on their parts; null where
// the row takes them as they are (views, transforms) and where there are none.
// Throws NotImplementedError for rows that do neither. Tensors may be meta.
DecomposeFn complex_form(const OpCall& call);

// Whether a tensor of pairs can be seen as complex numbers: pairs lie together,
// each at an even place.
bool holds_pairs(const Tensor& pairs);

// The form of a row; null where there is none.
DecomposeFn form_of_row(std::string_view name);
// The form of rows that write their first argument: they copy to it what their
// pure form gives.
Value written_in_parts(const OpCall& call);
// Whether a row that is no view takes complex tensors as they are.
bool takes_complex(std::string_view name);

}  // namespace fxjit::ops
