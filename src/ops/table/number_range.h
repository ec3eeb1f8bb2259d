// Checks Python numbers that a call converts to the dtype of a tensor. A number
// that the dtype does not hold is an error, as in torch, and neither wraps nor
// becomes infinite. number_range.cpp lists which parameters are converted.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// The greatest finite number of a floating type.
double greatest_float(DType type);

// Whether the op has parameters whose numbers are converted.
bool converts_numbers(const Op& op);

// Throws RuntimeError with torch's text if a number of the call is outside of
// the range of the result's dtype (of the first result, if there are several).
void check_numbers(const OpCall& call, const Value& result);

// The same for one number. Infinities and NaN are in the range of floating
// types.
void check_number(const Value& number, DType type, Conversion conversion);

}  // namespace fxjit::ops
