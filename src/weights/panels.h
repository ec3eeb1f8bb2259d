// Layout of a packed right-hand side: panels of `width` columns, each panel all
// of K in order: [ceil(N/width)][K rounded up][width], zero-filled at the
// edges. Generated tile loops read it as one stream; with width 64 it is the
// layout that oneDNN v3 chooses itself for f32 products on AVX-512.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fxjit/cpu_level.h"

namespace fxjit::weights {

// Register tile of a CPU level: `vectors` vectors of `lanes` floats wide, at
// most `max_rows` rows high. A panel is one tile wide.
struct RegisterTile {
  static constexpr int max_rows = 6;  // At every level.

  int lanes;
  int vectors;
  int64_t width() const { return int64_t{lanes} * vectors; }
};

RegisterTile register_tile(CpuLevel level);

// Rows of a packed panel: K rounded up to a multiple of 16.
int64_t packed_depth(int64_t depth);

// Elements of a packed K x N matrix.
int64_t packed_elements(int64_t depth, int64_t columns, int64_t width);

// A piece of the matrix: columns [first, first + columns) come from `data` with
// the given strides in elements.
struct PackSource {
  const float* data;
  int64_t depth_stride;
  int64_t column_stride;
  int64_t columns;
};

int64_t columns_of(std::span<const PackSource> sources);

// Zero for numbers below the smallest normal one. Weights that training has let
// decay are full of them; processors take some 150 cycles for a product with
// one, and no sum of other numbers changes by it.
inline float normal_or_zero(float x) {
  constexpr uint32_t kExponent = 0x7f800000, kSign = 0x80000000;
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>(bits & kExponent ? bits : bits & kSign);
}

inline bool is_below_normal(float x) {
  return normal_or_zero(x) != x && x == x;
}

// Packs the sources side by side into `out` (packed_elements floats), numbers
// below the smallest normal one as zeros. Whether there were any.
bool pack_panels(std::span<const PackSource> sources, int64_t depth,
                 int64_t width, float* out);

}  // namespace fxjit::weights
