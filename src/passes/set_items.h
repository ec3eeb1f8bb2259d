// x[index] = value without the write: the tensor that x is afterwards. For
// normalize, which says where readers of x may read that instead.
#pragma once

#include "fxjit/value.h"

namespace fxjit::passes {

// NotImplementedError where the index picks as many elements as its numbers
// say, or the value does not fit.
Value with_items(const Value& self, const Value& index, const Value& value);

// Whether x[index] is a view, whatever x: numbers, slices, None and ellipses.
bool is_view_index(const Value& index);
// `value` with the shape and type of `view`, which it is to be written to.
Value spread_to(const Value& view, const Value& value);

}  // namespace fxjit::passes
