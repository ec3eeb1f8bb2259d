// Makes a failing graph smaller while it still fails.
#pragma once

#include <functional>

#include "tests/compile/random_graph.h"

namespace fxjit::testing {

// Greedily keeps one result, gives nodes' values as inputs in place of what
// computes them, and leaves nodes out, until nothing more can go. `fails` must
// hold for `failing`.
GraphCase reduce_graph(GraphCase failing,
                       const std::function<bool(const GraphCase&)>& fails);

}  // namespace fxjit::testing
