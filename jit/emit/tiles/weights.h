// Reading packed weights of every format into vectors of f32.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/weights/format.h"

namespace fxjit::jit {

class TileWeights {
 public:
  // `table` is TileCall::table, not read for plain formats. Emits what stays
  // the same in the whole kernel.
  TileWeights(VectorBuilder& b, weights::Format format, int64_t width,
              Value* table);

  // Whether factors are to be scaled, and sums by finish().
  bool is_scaled() const { return format_ == weights::Format::fixed24; }
  Value* scaled_factor(Value* factor);
  // The sum that `sum` stands for, of a vector of the panel's columns.
  Value* finish(Value* sum, int64_t vector, Value* start);

  // Bytes of one row of a panel.
  int64_t row_bytes() const { return row_bytes_; }

  // One vector of a panel's row. `block` is where an even row lies, `row` 0 for
  // that row and 1 for the next.
  Value* vector(Value* block, int64_t row, int64_t vector);

 private:
  Value* coded(Value* block, int64_t vector);
  Value* fixed(Value* block, int64_t vector);

  VectorBuilder& b_;
  weights::Format format_;
  int64_t width_, row_bytes_;
  Value* table_;
  Value* exponents_ = nullptr;
};

}  // namespace fxjit::jit
