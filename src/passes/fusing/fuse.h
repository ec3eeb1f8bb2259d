// Makes each group of nodes that are computed together a sub-graph: the lowered
// graph becomes calls of regions, item picks of their results, and views.
#pragma once

#include "src/passes/fusing/grouping.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

ModelGraph fuse(const ModelGraph& model, const GroupingOptions& options = {});

}  // namespace fxjit::passes
