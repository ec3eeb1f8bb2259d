// Joining neighbouring loop dims: fewer, longer loops. Private to src/program.
#pragma once

#include <vector>

#include "fxjit/dims.h"

namespace fxjit::program {

// Sizes of a loop nest and, per operand, a stride per dim.
struct LoopDims {
  Dims sizes;
  std::vector<Dims> strides;
};

// Drops dims of size 1 and joins neighbours that every operand walks as one.
LoopDims join_dims(const LoopDims& dims);

// The dims [first, last) of a nest.
LoopDims sub_dims(const LoopDims& dims, int first, int last);

}  // namespace fxjit::program
