// Reads packed weights of any format into vectors of f32. Used by the tile
// skeleton only.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/weights/format.h"

namespace fxjit::jit {

class TileWeights {
 public:
  // `width` is the number of columns of a panel. `table` is TileCall::table;
  // formats without pairs do not read it. Emits what is the same for the whole
  // kernel.
  TileWeights(VectorBuilder& b, weights::Format format,
              const weights::Blocks& blocks, int64_t width, Value* table);

  // Whether the other factors must go through scaled_factor(), and sums through
  // finish().
  bool is_scaled() const { return format_ == weights::Format::fixed24; }
  Value* scaled_factor(Value* factor);
  // The true sums for `sum`, a vector of sums of scaled weights. `vector` is
  // its number in the panel, `start` what the sums begin with.
  Value* finish(Value* sum, int64_t vector, Value* start);

  // Of weights in blocks: a vector of scales of the block at `at`; of its zero
  // points, or null; of its words number `word`. The codes at `place` in words,
  // less zero points, as floats; only the kernel may know the place, an i32.
  Value* block_scale(Value* at, int64_t vector);
  Value* block_zero(Value* at, int64_t vector);
  Value* block_words(Value* at, Value* word, int64_t vector);
  Value* block_number(Value* words, int64_t place, Value* zero);
  Value* block_number(Value* words, Value* place, Value* zero);

  // Bytes of one row of a panel.
  int64_t row_bytes() const { return row_bytes_; }

  // Vector number `vector` of a panel's row. `block` points to a row with an
  // even number; `row` is 0 for that row and 1 for the one after it.
  Value* vector(Value* block, int64_t row, int64_t vector);

 private:
  Value* signed_number(Value* raised, Value* zero);
  Value* coded(Value* block, int64_t vector);
  Value* fixed(Value* block, int64_t vector);

  VectorBuilder& b_;
  weights::Format format_;
  weights::Blocks blocks_;
  int64_t width_, row_bytes_;
  Value* table_;
  Value* exponents_ = nullptr;
};

}  // namespace fxjit::jit
