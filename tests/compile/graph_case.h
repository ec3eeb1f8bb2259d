// What random graphs are beside a graph with its inputs.
#pragma once

#include "src/check/graph_case.h"

namespace fxjit::testing {

using checking::GraphCase;
using checking::GraphRun;
using checking::MemoryCopies;

struct RandomCase : GraphCase {
  int view_writes = 0;   // Calls that write memory through a view of it.
  bool special = false;  // Infinities and NaN are among the inputs.
};

// Whether a floating input holds an infinity or a NaN.
bool has_special_inputs(const GraphCase& c);

// The same graph with calls of an identity function that compiled graphs do not
// know behind some of its values: each ends a native part.
GraphCase in_parts(const GraphCase& whole, uint32_t seed);

}  // namespace fxjit::testing
