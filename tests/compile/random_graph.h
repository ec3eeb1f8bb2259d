// Random graphs over all families of ops, made from a seed. The graph is run as
// it grows, so that every call is valid, values stay of moderate size and
// nothing that jumps (comparisons, rounding, casts to integers) is near its
// jump: results of two correct implementations then agree within rounding.
#pragma once

#include "tests/compile/graph_case.h"

namespace fxjit::testing {

RandomCase random_graph(uint32_t seed);

}  // namespace fxjit::testing
