// What stands for a call that writes its first argument where nothing may be
// written. Passes that follow writes ask here.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// The op that gives the value that `op` writes, from the leading arguments that
// it has: OpFacts::pure, or the name without its underscore. Null where there
// is none.
const Op* pure_form(const Op& op);

}  // namespace fxjit::ops
