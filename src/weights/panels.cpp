#include "src/weights/panels.h"

#include <algorithm>
#include <cstring>

#include "src/support/machine/vector_lanes.h"

namespace fxjit::weights {

RegisterTile register_tile(CpuLevel level) {
  // With 32 registers: 24 accumulators, 4 panel vectors, 1 broadcast.
  const int vectors = level == CpuLevel::avx512 ? 4 : 2;
  return {support::vector_lanes(level), vectors};
}

int64_t packed_depth(int64_t depth) { return (depth + 15) / 16 * 16; }

int64_t packed_elements(int64_t depth, int64_t columns, int64_t width) {
  return (columns + width - 1) / width * width * packed_depth(depth);
}

int64_t columns_of(std::span<const PackSource> sources) {
  int64_t columns = 0;
  for (const PackSource& source : sources) columns += source.columns;
  return columns;
}

namespace {

using Four [[gnu::vector_size(16)]] = float;
using FourBits [[gnu::vector_size(16)]] = int32_t;

Four load(const float* from) {
  Four x;
  std::memcpy(&x, from, sizeof(x));
  return x;
}

// Columns of a source on their way into a panel.
struct Columns {
  const float* from;
  int64_t depth_stride, column_stride;
  float* to;  // For depth 0.
  int64_t width;
  FourBits decayed{};  // Not zero once numbers became zeros.

  // Four normal_or_zero().
  void put(Four x, int64_t k, int64_t n) {
    constexpr int32_t kMagnitude = 0x7fffffff, kSmallestNormal = 0x00800000;
    const auto bits = reinterpret_cast<FourBits>(x);
    const FourBits below = (bits & kMagnitude) < kSmallestNormal;
    decayed |= bits & kMagnitude & below;
    const FourBits kept = bits & ~(below & kMagnitude);
    std::memcpy(to + k * width + n, &kept, sizeof(kept));
  }

  void put_one(int64_t k, int64_t n) {
    const float x = from[k * depth_stride + n * column_stride];
    if (is_below_normal(x)) decayed[0] = 1;
    to[k * width + n] = normal_or_zero(x);
  }

  // Four rows of four, of columns that lie along the depth.
  void turn(int64_t k, int64_t n) {
    const float* corner = from + k + n * column_stride;
    const Four a = load(corner), b = load(corner + column_stride),
               c = load(corner + 2 * column_stride),
               d = load(corner + 3 * column_stride);
    constexpr FourBits kLow{0, 4, 1, 5}, kHigh{2, 6, 3, 7};
    constexpr FourBits kFirst{0, 1, 4, 5}, kLast{2, 3, 6, 7};
    const Four ab = __builtin_shuffle(a, b, kLow);
    const Four cd = __builtin_shuffle(c, d, kLow);
    const Four ab_high = __builtin_shuffle(a, b, kHigh);
    const Four cd_high = __builtin_shuffle(c, d, kHigh);
    put(__builtin_shuffle(ab, cd, kFirst), k, n);
    put(__builtin_shuffle(ab, cd, kLast), k + 1, n);
    put(__builtin_shuffle(ab_high, cd_high, kFirst), k + 2, n);
    put(__builtin_shuffle(ab_high, cd_high, kLast), k + 3, n);
  }

  void put_square(int64_t k, int64_t n) {
    if (depth_stride == 1) return turn(k, n);
    for (int64_t i = 0; i < 4; ++i)
      if (column_stride == 1)
        put(load(from + (k + i) * depth_stride + n), k + i, n);
      else
        for (int64_t j = 0; j < 4; ++j) put_one(k + i, n + j);
  }
};

// Copies columns [0, count) of `source` at column `at` of the source into
// `out`, a panel position, for all of K. Blocks of 16 rows keep both sides in
// cache when the source is [N, K]. Whether numbers became zeros.
bool pack_columns(const PackSource& source, int64_t at, int64_t count,
                  int64_t depth, int64_t width, float* out) {
  constexpr int64_t kBlock = 16;
  Columns columns{source.data + at * source.column_stride, source.depth_stride,
                  source.column_stride, out, width};
  for (int64_t k0 = 0; k0 < depth; k0 += kBlock) {
    const int64_t k1 = std::min(depth, k0 + kBlock);
    const int64_t squares = k0 + (k1 - k0) / 4 * 4;
    int64_t n = 0;
    for (; n + 4 <= count; n += 4) {
      for (int64_t k = k0; k < squares; k += 4) columns.put_square(k, n);
      for (int64_t k = squares; k < k1; ++k)
        for (int64_t j = 0; j < 4; ++j) columns.put_one(k, n + j);
    }
    for (; n < count; ++n)
      for (int64_t k = k0; k < k1; ++k) columns.put_one(k, n);
  }
  const FourBits& found = columns.decayed;
  return (found[0] | found[1] | found[2] | found[3]) != 0;
}

}  // namespace

bool pack_panels(std::span<const PackSource> sources, int64_t depth,
                 int64_t width, float* out) {
  const int64_t columns = columns_of(sources);
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
