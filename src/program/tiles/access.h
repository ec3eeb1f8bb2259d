// The operands of epilogues, for all skeletons that have one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/dtype.h"
#include "fxjit/scalar_body.h"
#include "src/program/steps/fields.h"
#include "src/program/steps/skeleton.h"

namespace fxjit::program {

// An extra input or an output of a contraction's epilogue, f32 computations.
struct TileAccess {
  DType dtype = DType::f32;
  int64_t batch = 0;
  int64_t row = 0;
  int64_t column = 1;  // 0 or 1.

  friend bool operator==(const TileAccess&, const TileAccess&) = default;
};

template <typename V>
void fields(Is<TileAccess> auto& s, V& v) {
  v("dtype", s.dtype), v("batch", s.batch), v("row", s.row);
  v("column", s.column);
}

// What is done to the sums of a step, which is one that has it.
struct Epilogue {
  std::vector<TileAccess> extras;
  std::vector<TileAccess> outputs;
  ScalarBody epilogue;  // Input slot 0 is the sum.

  // As kernels know it, the strides being arguments: `row` is 0 or 1, which
  // stands for any stride, and `batch` is 0.
  Epilogue without_sizes() const;
  std::string epilogue_key() const;
  // What it reads beside the sums, and what it writes.
  double epilogue_bytes(double batch, double rows, double columns) const;
  // Results that may lie where an extra does, which is read just before. The
  // first two operands of a step are those of its sums.
  std::vector<InPlacePair> epilogue_pairs() const;

  friend bool operator==(const Epilogue&, const Epilogue&) = default;
};

}  // namespace fxjit::program
