// Functions of complex numbers that loops of the library compute, as calls.
// Arguments may be proxies.
#pragma once

#include <string_view>

#include "fxjit/value.h"

namespace fxjit::ops {

// `function` of each element: a row of the op table that has one argument, such
// as "exp".
Value complex_map(const Value& input, std::string_view function);

// Quotients and powers of two complex tensors of one dtype.
Value complex_quotient(const Value& a, const Value& b);
Value complex_power(const Value& base, const Value& exponent);

// Products along an axis: of all before each element and itself, or of all.
Value complex_running_product(const Value& input, int axis);
Value complex_product(const Value& input, int axis);

}  // namespace fxjit::ops
