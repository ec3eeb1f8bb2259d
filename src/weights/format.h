// Formats of packed weights. A product of few rows takes as long as its weights
// take to arrive, so those that fit in fewer bits are kept in fewer: without
// loss checkpoints of half types, and most others, whose exponents are few;
// with less loss than the sums themselves have, as numbers of fixed point.
//
// All formats have the panels of weights/panels.h; what some put before and
// behind them is said in f28.h and fixed.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/weights/blocks.h"
#include "src/weights/panels.h"

namespace fxjit::weights {

enum class Format : uint8_t {
  f32,
  f16,
  bf16,
  f28,      // 23 bits of mantissa, the sign, 4 bits for 14 exponents.
  fixed24,  // Fixed point, a scale for each column.
  bytes,    // Whole numbers of i8.
  blocks,   // Codes with a scale for each block of the depth, see blocks.h.
  quads1,   // 8-bit integers, see quads.h: so many quads are added in 16 bits.
  quads2,
  quads4,
  quads,  // 8-bit integers as they are, for sums that cannot saturate.
  tiles,  // The same as tile registers take them.
};

// What is less than f32, in the order in which formats are tried.
inline constexpr Format kNarrowFormats[] = {Format::bf16, Format::f16,
                                            Format::fixed24, Format::f28};

// Whether the format keeps rounded weights.
constexpr bool rounds(Format format) { return format == Format::fixed24; }

const char* format_name(Format format);

// Whether rows lie in pairs, and outliers behind the panels.
constexpr bool is_paired(Format format) {
  return format == Format::f28 || format == Format::fixed24;
}

constexpr bool is_quads(Format format) { return format >= Format::quads1; }

// How many quads of a column are added in 16 bits, for which they are clipped;
// 0 for other formats.
constexpr int quad_group(Format format) {
  return format == Format::quads1   ? 1
         : format == Format::quads2 ? 2
         : format == Format::quads4 ? 4
                                    : 0;
}

// Those formats, the best of which is found by counting.
inline constexpr Format kClippedQuads[] = {Format::quads1, Format::quads2,
                                           Format::quads4};

struct Coding {
  Format format = Format::f32;
  int32_t first_exponent = 0;  // f28: biased; 14 follow one another.
  std::vector<float> scales;   // fixed24: one per column.
  int64_t fixes = 0;           // quads: how many there are.
  BlocksCoding blocks = {};    // blocks

  friend bool operator==(const Coding&, const Coding&) = default;
};

// The rows up to which products by such weights are faster than by f32, or as
// fast: each level unpacks at its own pace. 0 where it has no code for the
// format.
int64_t most_rows(Format format, CpuLevel level);

// The least of the formats that are to be tried, f32 if all weights fit in none
// of them.
Coding find_coding(std::span<const PackSource> sources, int64_t depth,
                   std::span<const Format> formats);

// Bytes of one row of a panel; of the paired formats two rows lie together.
int64_t panel_row_bytes(Format format, int64_t width);
// Bytes before the first panel.
int64_t header_bytes(Format format, int64_t columns, int64_t width);
// Bytes of a packed K x N matrix.
int64_t packed_bytes(Format format, int64_t depth, int64_t columns,
                     int64_t width);

// Packs the sources side by side into `out`, 64-byte aligned. As pack_panels,
// for f32.
bool pack_matrix(std::span<const PackSource> sources, int64_t depth,
                 int64_t width, const Coding& coding, std::byte* out);

inline constexpr int64_t kPairedRows = 2;

// A weight that no code of a paired format stands for.
struct Outlier {
  uint32_t depth;
  uint32_t lane;  // Column within the panel.
  float value;    // To be added to the weight in the panel.
};

// Those of the panels of a matrix packed in a paired format.
class Outliers {
 public:
  Outliers(const std::byte* packed, Format format, int64_t depth,
           int64_t columns, int64_t width);

  std::span<const Outlier> of_panel(int64_t panel) const;

 private:
  const uint32_t* ends_ = nullptr;  // By panel.
  const Outlier* first_ = nullptr;
};

}  // namespace fxjit::weights
