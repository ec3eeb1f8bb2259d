// The primitives of scalar bodies by the standard library, in double and in
// exact integers. Independent of the library's own evaluators.
#pragma once

#include <cstdint>

#include "fxjit/scalar_body.h"

namespace fxjit::jit::testing {

// A scalar of any dtype: floats in `real`, integers and booleans in `whole`.
struct Number {
  double real = 0;
  int64_t whole = 0;
};

Number read_number(DType dtype, const void* place);
void write_number(DType dtype, void* place, const Number& number);
double as_double(DType dtype, const Number& number);

// A primitive of one or two arguments of type `type` (`y` unused by the
// former).
Number prim_result(Prim prim, DType type, const Number& x, const Number& y);
Number cast_result(const Number& x, DType from, DType to);

}  // namespace fxjit::jit::testing
