// Many nodes replaced at once.
#pragma once

#include <utility>
#include <vector>

#include "fxjit/fx/graph.h"

namespace fxjit::fx::passes {

// As `first->replace_all_uses_with(second)` for every pair; a `second` is no
// `first` and uses none. A user of many nodes is edited once in all, where each
// replacement would cost all its arguments.
void replace_uses(const std::vector<std::pair<NodePtr, NodePtr>>& replaced,
                  bool propagate_meta = false);

}  // namespace fxjit::fx::passes
