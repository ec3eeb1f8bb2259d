// Products of quads of a row and of weights, in the way of a form. Used by the
// integer skeleton only.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/integers/form.h"

namespace fxjit::jit {

class IntegerProducts {
 public:
  IntegerProducts(VectorBuilder& b, program::QuadSums adds)
      : b_(b), adds_(adds) {}

  // No level has vpdpbusd, so that the function alone that needs it may use it.
  void allow_dots();
  // Sums of two products of u8 and s8, saturated in 16 bits; of two i16, in 32.
  Value* pairs(Value* rows, Value* factors);
  // Those, or sums of them, in 32 bits.
  Value* in_words(Value* pairs);
  // The products of quads of u8 and s8, or of pairs of i16, in 32 bits.
  Value* quads(Value* rows, Value* factors) {
    return in_words(pairs(rows, factors));
  }
  // The sums and these products.
  Value* add(Value* sums, Value* rows, Value* factors);

 private:
  VectorBuilder& b_;
  program::QuadSums adds_;
};

}  // namespace fxjit::jit
