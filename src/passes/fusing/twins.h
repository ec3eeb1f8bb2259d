// Regions that are alike in all but what they read. The layers of a model are:
// what has been planned for the region of one layer holds for the others.
#pragma once

#include "src/passes/model_graph.h"

namespace fxjit::passes {

// Gives the regions of a fused graph Region::twin. Sizes that have names are
// alike where they are for all values of the names.
void mark_twins(ModelGraph& model);

}  // namespace fxjit::passes
