// What a graph must look like, counted anew from the arguments alone: an oracle
// for the use lists, the node list and everything else that edits keep up.
#pragma once

#include "fxjit/fx/graph.h"

namespace fxjit::fx {

// Fails the test for every invariant that does not hold. Linear.
void expect_consistent(const Graph& graph);

}  // namespace fxjit::fx
