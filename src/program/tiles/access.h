// The operands of epilogues, for all skeletons that have one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fxjit/dtype.h"
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

// Accesses as kernels know them, the strides being arguments: `row` 0 or 1,
// `batch` 0.
std::vector<TileAccess> without_sizes(std::vector<TileAccess> accesses);
std::string access_key(const std::vector<TileAccess>& accesses);

// What an epilogue reads beside the sums, or what it writes.
double epilogue_bytes(const std::vector<TileAccess>& accesses, double batch,
                      double rows, double columns);

// Results that may lie where an extra does, which is read just before. The
// first two operands of a step are those of its sums.
std::vector<InPlacePair> epilogue_pairs(const std::vector<TileAccess>& extras,
                                        const std::vector<TileAccess>& outputs);

}  // namespace fxjit::program
