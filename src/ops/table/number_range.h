// Python numbers that calls convert to the type of a tensor: one that the type
// does not hold is an error, as in torch, where it would wrap or become
// infinite. Which parameters these are stands in number_range.cpp.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// How numbers become elements.
enum class Conversion : uint8_t {
  stored,    // In the type itself.
  computed,  // In the type in which torch computes: half types as float32.
  cast,      // Half types as float64: what they lack becomes infinite.
};

// Whether calls of the op have such parameters.
bool converts_numbers(const Op& op);

// RuntimeError, with torch's text, for a number of the call that the type of
// its result, or of the first of several, does not hold.
void check_numbers(const OpCall& call, const Value& result);

// The same of one number. Infinities and NaN belong to floating types.
void check_number(const Value& number, DType type, Conversion conversion);

}  // namespace fxjit::ops
