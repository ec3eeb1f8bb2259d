// Finds heads of keys or values that several heads of queries share. The
// captured graph repeats them; attention can read them in place. Used by the
// patterns of attention.
#pragma once

#include <optional>

#include "fxjit/fx/node.h"

namespace fxjit::passes {

struct SharedHeads {
  // The heads [.., heads, rows, depth]. If `expanded`, `base` has the shape
  // [.., heads, groups, rows, depth], and each index of its dim -3 has the
  // heads.
  fx::NodePtr base = nullptr;
  bool expanded = false;
  Size groups = 1;  // Times that each head is repeated, one after the other.
};

// What `node` repeats. None unless it is reshape(expand(unsqueeze(x, -3))) or
// repeat_interleave(x, groups, -3).
std::optional<SharedHeads> shared_heads(const fx::Node& node);

}  // namespace fxjit::passes
