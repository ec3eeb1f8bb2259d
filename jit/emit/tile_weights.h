// Reading packed weights of every format into vectors of f32.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/weight_format.h"

namespace fxjit::jit {

class TileWeights {
 public:
  // `exponents` is the address of f28's, else not read. Emits what stays the
  // same in the whole kernel.
  TileWeights(VectorBuilder& b, program::WeightFormat format, int64_t width,
              Value* exponents);

  // Bytes of one row of a panel.
  int64_t row_bytes() const { return row_bytes_; }

  // One vector of a panel's row. `block` is where an even row lies, `row` 0 for
  // that row and 1 for the next.
  Value* vector(Value* block, int64_t row, int64_t vector);

 private:
  Value* coded(Value* block, int64_t vector);

  VectorBuilder& b_;
  program::WeightFormat format_;
  int64_t width_, row_bytes_;
  Value* exponents_ = nullptr;
};

}  // namespace fxjit::jit
