// The texts that a graph owns: the names of its nodes, each used once, and
// their targets.
#pragma once

#include "src/fx/graph/namespace.h"
#include "src/fx/graph/string_pool.h"

namespace fxjit::fx {

struct GraphNames {
  StringPool targets;
  Namespace names;
};

}  // namespace fxjit::fx
