// Makes a failing graph smaller as long as it still fails.
#pragma once

#include <functional>
#include <string_view>

#include "src/check/evaluation.h"
#include "src/check/graph_case.h"

namespace fxjit::checking {

using Fails = std::function<bool(const GraphCase&)>;

// First turns the values of all but the last calls into inputs, keeping as few
// calls as still fail. Then tries, one step at a time: to keep a single result,
// to leave out a write, to turn a node's value into an input, to leave out a
// node. Stops when no step works. `fails` must be true for `failing`; it is
// also asked about graphs that cannot run.
GraphCase reduce_graph(GraphCase failing, const Fails& fails);

// The graph up to `node`, whose value is its only result, in a tuple.
GraphCase prefix_of(const GraphCase& from, std::string_view node);

// The last `calls` calls of the graph, and the calls that give them containers.
// The values of all earlier calls are inputs.
GraphCase last_calls(const GraphCase& from, size_t calls, const Values& values);

// The same case with numbers among the inputs written into the calls that read
// them.
GraphCase with_numbers_inside(const GraphCase& from);

}  // namespace fxjit::checking
