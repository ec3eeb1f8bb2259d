// Cuts a product into products that threads compute side by side.
#pragma once

#include <vector>

#include "kernels/onednn/matmul.h"

namespace fxjit::kernels::onednn {

// Part of a product, and where it begins.
struct MatmulSlice {
  MatmulShape shape;
  int64_t batch = 0, row = 0, column = 0;

  // Where the part begins in each operand, in elements.
  int64_t a_offset() const { return batch * shape.a_batch + row * shape.a_row; }
  int64_t b_offset() const {
    return batch * shape.b_batch + column * shape.b_column;
  }
  int64_t c_offset() const {
    return batch * shape.c_batch + row * shape.c_row + column;
  }
};

enum class CutFirst {
  longer,  // Whichever of rows and columns there are more of.
  rows,    // Rows where there are enough: their results stay dense.
};

// At most `threads` slices, one where work is small. Columns are cut at
// multiples of kColumnStep.
inline constexpr int64_t kColumnStep = 64;
std::vector<MatmulSlice> cut_matmul(const MatmulShape& whole, int threads,
                                    CutFirst first = CutFirst::longer);

}  // namespace fxjit::kernels::onednn
