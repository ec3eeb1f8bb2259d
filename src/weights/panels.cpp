#include "src/weights/panels.h"

#include <algorithm>

#include "fxjit/error.h"

namespace fxjit::weights {

TileShape tile_shape(CpuLevel level) {
  switch (level) {
    case CpuLevel::avx512:
      return {16, 4, 6};  // 24 accumulators, 4 panel vectors, 1 broadcast.
    case CpuLevel::avx2:
      return {8, 2, 6};
    case CpuLevel::sse41:
      return {4, 2, 6};
  }
  throw InternalError("tile_shape: unknown CPU level");
}

int64_t packed_depth(int64_t depth) { return (depth + 15) / 16 * 16; }

int64_t packed_elements(int64_t depth, int64_t columns, int64_t width) {
  return (columns + width - 1) / width * width * packed_depth(depth);
}

namespace {

// Copies columns [0, count) of `source` at column `at` of the source into
// `out`, a panel position, for all of K. Blocks of 16 x 16 keep both sides in
// cache when the source is [N, K]. Whether numbers became zeros.
bool pack_columns(const PackSource& source, int64_t at, int64_t count,
                  int64_t depth, int64_t width, float* out) {
  const float* first = source.data + at * source.column_stride;
  constexpr int64_t kBlock = 16;
  bool decayed = false;
  for (int64_t k0 = 0; k0 < depth; k0 += kBlock) {
    const int64_t k1 = std::min(depth, k0 + kBlock);
    for (int64_t n = 0; n < count; ++n) {
      const float* from = first + n * source.column_stride;
      for (int64_t k = k0; k < k1; ++k) {
        const float number = from[k * source.depth_stride];
        decayed |= is_below_normal(number);
        out[k * width + n] = normal_or_zero(number);
      }
    }
  }
  return decayed;
}

}  // namespace

bool pack_panels(std::span<const PackSource> sources, int64_t depth,
                 int64_t width, float* out) {
  int64_t columns = 0;
  for (const PackSource& source : sources) columns += source.columns;
  const int64_t panel = packed_depth(depth) * width;
  const int64_t total = packed_elements(depth, columns, width);
  if (columns % width != 0 || packed_depth(depth) != depth)
    std::fill_n(out, total, 0.0f);  // Null where the depth is 0.
  int64_t column = 0;
  bool decayed = false;
  for (const PackSource& source : sources) {
    for (int64_t at = 0; at < source.columns;) {
      const int64_t lane = column % width;
      const int64_t count = std::min(width - lane, source.columns - at);
      decayed |= pack_columns(source, at, count, depth, width,
                              out + column / width * panel + lane);
      at += count;
      column += count;
    }
  }
  return decayed;
}

}  // namespace fxjit::weights
