// What a compiled program is found by: dtypes, sizes and strides of the tensors
// among its inputs, and the other values themselves. Strides count where they
// lead to another element, so a dim of size 1 may have any.
#pragma once

#include <cstddef>
#include <span>

#include "fxjit/value.h"

namespace fxjit {

// Equal for inputs that same_inputs() calls equal; different, but by accident,
// for others.
size_t hash_inputs(std::span<const Value> inputs);

// As hash_inputs, but of the tensors and the kinds of the other values alone.
size_t hash_shapes(std::span<const Value> inputs);

// Whether a program made for `known` (which may hold meta tensors) serves
// `given`, too. 0.0 and -0.0 differ, NaN equals itself.
bool same_inputs(std::span<const Value> known, std::span<const Value> given);

}  // namespace fxjit
