// Products of pairs of 16-bit integers.
#pragma once

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// Sums of two products of neighbouring i16 in 32 bits (`pmaddwd`), for vectors
// of 128, 256 or 512 bits.
Value* sums_of_pairs(VectorBuilder& b, Value* x, Value* y);

// The same bits as numbers of i16.
Value* as_shorts(VectorBuilder& b, Value* bits);

}  // namespace fxjit::jit
