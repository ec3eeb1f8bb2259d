// Finds the values of a graph whose memory some node writes. Passes must not
// merge equal calls that give such values, nor take them for constants.
#pragma once

#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {

// By node id, whether the value shares memory with one that is written: it is
// written itself, is a view of it, or is what a written value is a view of. An
// attribute counts if any attribute in the same memory is written.
std::vector<bool> written_values(const GraphModule& module);

}  // namespace fxjit::fx
