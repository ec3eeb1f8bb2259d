// The comments of generated code: where a node comes from, and what users
// noted.
#pragma once

#include <string>

#include "fxjit/fx/node.h"

namespace fxjit::fx {

// "# Annotation: {...} File: x.py:3 in forward, code: ..."
std::string comment_of(const Node& node);

}  // namespace fxjit::fx
