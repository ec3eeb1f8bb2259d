// Which values of a graph have memory that some node of it writes: equal calls of
// such are not the same value, and such values are not constant.
#pragma once

#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {

// By node id. Views of what is written are written, and so is what they view;
// attributes are where any attribute in the same memory is.
std::vector<bool> written_values(const GraphModule& module);

}  // namespace fxjit::fx
