// Joining neighbouring loop dims: fewer, longer loops. Private to src/program.
#pragma once

#include <vector>

#include "fxjit/dims.h"

namespace fxjit::program {

// The sizes of a loop nest, and for each operand a stride along each dim.
struct LoopDims {
  Dims sizes;
  std::vector<Dims> strides;
};

// Drops dims of size 1, and joins neighbouring dims that every operand walks
// with one stride.
LoopDims join_dims(const LoopDims& dims);

// The part of a loop nest over the dims [first, last).
LoopDims sub_dims(const LoopDims& dims, int first, int last);

}  // namespace fxjit::program
