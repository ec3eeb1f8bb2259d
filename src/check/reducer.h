// Makes a failing graph smaller while it still fails.
#pragma once

#include <functional>
#include <string_view>

#include "src/check/evaluation.h"
#include "src/check/graph_case.h"

namespace fxjit::checking {

using Fails = std::function<bool(const GraphCase&)>;

// Gives values as inputs in place of all but the last calls, as few as still
// fail; then, greedily, keeps one result, leaves out writes, gives nodes' values
// as inputs in place of what computes them, and leaves nodes out, until nothing
// more can go. `fails` must hold for `failing`; it is also asked about graphs
// that cannot run.
GraphCase reduce_graph(GraphCase failing, const Fails& fails);

// The graph up to `node`, whose value is its one result, in a tuple.
GraphCase prefix_of(const GraphCase& from, std::string_view node);

// The last `calls` calls of the graph and what gives them containers; the values
// of earlier calls are inputs.
GraphCase last_calls(const GraphCase& from, size_t calls, const Values& values);

// Numbers among the inputs stand in the calls that read them.
GraphCase with_numbers_inside(const GraphCase& from);

}  // namespace fxjit::checking
