// Computes x[index] = value without a write, as the tensor that x is
// afterwards. Used by FollowedWrites.
#pragma once

#include <optional>

#include "fxjit/value.h"

namespace fxjit::passes {

// A part of x, as a view, and the value of that part after the write.
struct ItemWrite {
  Value part, after;
};

// The part that x[index] = value writes; none if the items are not a view of x.
std::optional<ItemWrite> item_write(const Value& self, const Value& index,
                                    const Value& value);

// The whole of x after the write.
Value with_items(const Value& self, const Value& index, const Value& value);

}  // namespace fxjit::passes
