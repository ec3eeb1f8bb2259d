// Applies the user's changes to the body of generated code
// (Graph::on_generate_code). Used by python_code.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/codegen.h"

namespace fxjit::fx {

// For each node: where its lines start in the body, in characters, and the
// node's position in the graph.
using LineStarts = std::vector<std::pair<size_t, int>>;

// The body as `transform` changes it. `transform` is given lines that end with
// their line break. A comment line with the position of a node stands before
// the node's lines while it runs; `starts` is updated by these comments, which
// are then removed.
std::string transform_body(const std::string& body, LineStarts* starts,
                           const BodyTransform& transform);

}  // namespace fxjit::fx
