// Whose memory the tensors of a result are, and how compiled calls keep to it:
// tensors that share memory in the interpreter are views of one output, and
// what is memory of an input is a view of that input.
#pragma once

#include <vector>

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

struct PlacedResult {
  Value value;  // With outputs in place of their views.
  std::vector<ModelGraph::Result> memory;
};

// `result` is made of proxies and constants of the builder. NotImplementedError
// where results share memory in a way that no output can have.
PlacedResult place_result(GraphBuilder& builder, const Value& result);

}  // namespace fxjit::passes
