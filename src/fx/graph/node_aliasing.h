// What src/ops/table/aliasing.h says of a captured call, whose shapes are not
// known.
#pragma once

#include "fxjit/fx/graph.h"

namespace fxjit::fx {

// The op that a call of a function or method is of; null for others.
const ops::Op* op_of(const Node& node);
// Whether the node's result may be memory of one of its arguments.
bool may_alias(const Node& node);

}  // namespace fxjit::fx
