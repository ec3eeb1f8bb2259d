// Heads of keys or values that several heads of queries share: repeated in the
// captured graph, read in place by attention. For the patterns of attention.
#pragma once

#include <optional>

#include "fxjit/fx/node.h"

namespace fxjit::passes {

struct SharedHeads {
  // [.., heads, rows, depth]: `base`, or one of its dims -3 where it is already
  // expanded to [.., heads, groups, rows, depth].
  fx::NodePtr base = nullptr;
  bool expanded = false;
  Size groups = 1;  // Times that each head is repeated, one after the other.
};

// What `node` repeats; nothing when it is not made by
// reshape(expand(unsqueeze(x, -3))) or repeat_interleave(x, groups, -3).
std::optional<SharedHeads> shared_heads(const fx::Node& node);

}  // namespace fxjit::passes
