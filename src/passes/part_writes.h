// A write to a part of a tensor without the write: the whole tensor as it is
// afterwards. For calls that write views of what others read later.
#pragma once

#include <vector>

#include "fxjit/value.h"

namespace fxjit::passes {

// Where the elements of a part lie, in elements of the whole tensor's memory
// and in the row-major order of the part.
std::vector<int64_t> places_of(const Tensor& part);

// `whole` with `after` in place of its part. `whole`: contiguous from the start
// of its memory. `part`: sizes, strides and offset in that memory, no element
// twice. `after` has the part's sizes and type. A part that is a box of `whole`
// is joined to the rest by `cat`, any other is scattered.
Value with_part(const Value& whole, const Tensor& part, const Value& after);

}  // namespace fxjit::passes
