// What passes ask before they move, merge or drop calls: whose memory a result is.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Whether the op's eager kernel always gives memory of its own.
bool gives_fresh_memory(const Op& op);

}  // namespace fxjit::ops
