// Python's arithmetic on bools, ints and floats. Ints have 64 bits: where
// Python's would grow larger there is an OverflowError.
#pragma once

#include "fxjit/value.h"

namespace fxjit::ops::python {

// Both are numbers. ZeroDivisionError and OverflowError with Python's texts.
Value add(const Value& a, const Value& b);
Value sub(const Value& a, const Value& b);
Value mul(const Value& a, const Value& b);
Value truediv(const Value& a, const Value& b);
Value floordiv(const Value& a, const Value& b);
Value mod(const Value& a, const Value& b);
Value pow(const Value& a, const Value& b);

// Both are ints or bools. ValueError for a negative shift.
Value lshift(const Value& a, const Value& b);
Value rshift(const Value& a, const Value& b);

// `value` is a number.
Value negative(const Value& value);
Value positive(const Value& value);
Value absolute(const Value& value);

[[noreturn]] void throw_too_large();

}  // namespace fxjit::ops::python
