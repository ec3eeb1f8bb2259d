// Refuses graphs that no machine of this size can run.
#pragma once

#include "src/passes/model_graph.h"

namespace fxjit::passes {

// RuntimeError naming the first call whose results take more memory than the
// machine has: the interpreter would refuse it as well, at once.
void check_memory(const ModelGraph& model);

}  // namespace fxjit::passes
