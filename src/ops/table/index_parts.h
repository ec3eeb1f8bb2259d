// Python's indexing in two parts, for calls that write self[index].
#pragma once

#include <optional>

#include "fxjit/value.h"

namespace fxjit::ops {

struct IndexParts {
  Value view;         // What ints, slices, None and Ellipsis show of `self`.
  ValueList tensors;  // A tensor or None per dim of it; none: all of the view.
};

// self[index] is what `tensors` pick of `view`. None where no such view has
// its dims in the same order. IndexError as indexing gives it.
std::optional<IndexParts> index_parts(const Value& self, const Value& index);

}  // namespace fxjit::ops
