// Many nodes replaced at once.
#pragma once

#include <utility>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

// Calls first->replace_all_uses_with(second) for every pair, but edits a user
// of many nodes once in all; pair by pair, each replacement would go through
// all arguments of that user. No `second` may be a `first` or use one.
void replace_uses(const std::vector<std::pair<NodePtr, NodePtr>>& replaced,
                  bool propagate_meta = false);

}  // namespace fxjit::fx::passes
