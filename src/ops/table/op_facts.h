// Questions about what a row states.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

inline const OpFacts& facts_of(const Op& op) { return op.row.facts; }

// Whether a method gives what follows from sizes, by a name that torch.fx's
// proxies of parameters know.
inline bool tells_sizes(const Spelling& method) {
  return facts_of(*method.op).of_sizes && method.name != "ndimension";
}

}  // namespace fxjit::ops
