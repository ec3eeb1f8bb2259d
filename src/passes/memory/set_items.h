// x[index] = value without the write: the tensor that x is afterwards. For
// normalize, which says where readers of x may read that instead.
#pragma once

#include <optional>

#include "fxjit/value.h"

namespace fxjit::passes {

// A part of x and what it is after the write.
struct ItemWrite {
  Value part, after;
};

// None where the items are no part of x by views alone.
std::optional<ItemWrite> item_write(const Value& self, const Value& index,
                                    const Value& value);

// All of x after the write.
Value with_items(const Value& self, const Value& index, const Value& value);

}  // namespace fxjit::passes
