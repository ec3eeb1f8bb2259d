// Splits Python's indexing into a view and index tensors, for calls that write
// self[index].
#pragma once

#include <optional>

#include "fxjit/value.h"

namespace fxjit::ops {

struct IndexParts {
  Value view;         // What ints, slices, None and Ellipsis show of `self`.
  ValueList tensors;  // A tensor or None per dim of it; none: all of the view.
};

// self[index] is `view` indexed by `tensors`. None if no view has its dims in
// the order of self[index]. Throws IndexError as indexing does.
std::optional<IndexParts> index_parts(const Value& self, const Value& index);

}  // namespace fxjit::ops
