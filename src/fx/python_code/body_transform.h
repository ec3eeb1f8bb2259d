// The user's changes to the body of generated code (Graph::on_generate_code).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/codegen.h"

namespace fxjit::fx {

// Where in the body the lines of each node start, and the node's position.
using LineStarts = std::vector<std::pair<size_t, int>>;

// `body` as `transform` makes it. The transform sees lines, each with its line
// break, and before those of a node a comment with its position, by which
// `starts` follows the lines.
std::string transform_body(const std::string& body, LineStarts* starts,
                           const BodyTransform& transform);

}  // namespace fxjit::fx
