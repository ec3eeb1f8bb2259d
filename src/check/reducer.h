// Makes a failing graph smaller while it still fails.
#pragma once

#include <functional>

#include "src/check/graph_case.h"

namespace fxjit::checking {

// Greedily keeps one result, leaves out writes, gives nodes' values as inputs in
// place of what computes them, and leaves nodes out, until nothing more can go.
// `fails` must hold for `failing`; it is also asked about graphs that cannot run.
GraphCase reduce_graph(GraphCase failing,
                       const std::function<bool(const GraphCase&)>& fails);

}  // namespace fxjit::checking
