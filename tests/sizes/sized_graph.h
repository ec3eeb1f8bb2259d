// Random graphs that ask for the sizes of their inputs, as models of changing
// sizes do: reshaped, cut and filled by x.size(1) where other random graphs
// have numbers.
#pragma once

#include "src/compile/size_kinds.h"
#include "tests/compile/graph_case.h"

namespace fxjit::testing_sizes {

struct SizedCase {
  testing::RandomCase graph;  // All inputs are dense.
  SizeNaming naming;          // Equal sizes have one name, or none.
  // Some calls may write. What follows from sizes is no constant in such graphs
  // while sizes have names, so that writes to it are followed.
  bool writes = false;
};

// Nothing if no size has a name.
std::optional<SizedCase> sized_graph(uint32_t seed);

// The inputs, with sizes of these names and the elements that they had, over
// and over.
ValueList inputs_at(const ValueList& inputs, const SizeNaming& naming,
                    const std::vector<int64_t>& names);

}  // namespace fxjit::testing_sizes
