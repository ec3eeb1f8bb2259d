// Makes the results of a compiled call share memory as the interpreter's
// results do: results that share memory become views of one output, and a
// result that is memory of an input becomes a view of that input.
#pragma once

#include <vector>

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

struct PlacedResult {
  Value value;  // With outputs in place of their views.
  std::vector<ModelGraph::Result> memory;
};

// `result` consists of proxies and constants of the builder. Throws
// NotImplementedError if results share memory in a way that no single output
// can have.
PlacedResult place_result(GraphBuilder& builder, const Value& result);

}  // namespace fxjit::passes
