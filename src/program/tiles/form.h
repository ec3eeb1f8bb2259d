// The form of a contraction's tile loop, and the structures that its code reads
// at each call. All sizes are arguments, so that products and programs of many
// shapes share few kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/program/tiles/access.h"
#include "src/support/machine/cache_line.h"
#include "src/weights/format.h"

namespace fxjit::program {

struct TileOperand {
  std::byte* first;  // Of the first tile's first row and column.
  int64_t row;       // Bytes from row to row.
};

// The arguments of a tile kernel: it computes `tiles` tiles of one panel, one
// below the other. Strides are in elements. A kernel that packs writes to
// `made`: `tiles` panels of rows of `lhs`, or the one panel of `weights`,
// decoded.
struct TileCall {
  const float* lhs;
  const void* weights;          // Of the panel.
  std::byte* made;              // Of kernels that pack.
  const TileOperand* operands;  // Extras, then outputs.
  int64_t first_tile;           // Number of the first within its block.
  int64_t tiles;
  int64_t depth;
  int64_t lhs_row;
  int64_t panel_bytes;  // From panel to panel.
  // The kernel prefetches one cache line of the next panel every 1 <<
  // fetch_shift steps of the depth.
  int64_t fetch_shift;
  int64_t last_lanes;
  // Only for formats that pack weights in pairs. `table` has the exponents of
  // f28 by their number, or the step sizes of this panel's columns for fixed24.
  // `start` has what the sums begin with, row by row.
  const void* table;
  const float* start;
  // Only for rows that are windows: where the taps of each row of the tiles
  // lie, row by row. `depth` is that of one tap.
  const float* const* addresses;
  int64_t taps;
};

using TileFn = void (*)(const TileCall* call);

// The form of a tile kernel. A tile has `rows` rows, and `vectors` vectors of
// columns in each of `panels` panels. The kernel sums over any depth, then
// applies the epilogue.
struct TileForm : Epilogue {  // Without sizes.
  using Fn = TileFn;

  int rows = 1;
  int vectors = 1;
  // Set for all but full panels: the last vector has TileCall::last_lanes
  // lanes.
  bool masked = false;
  // Neighbouring panels that one tile spans. A tile of a single row spans
  // several, so that its loop is not started anew for each panel.
  int panels = 1;
  // Parts of the depth that are summed side by side. A tile of few rows has
  // registers left for more sums, and several streams of weights are read
  // faster.
  int depth_parts = 1;
  bool prefetches = false;  // The panel that is read next.
  bool has_window = false;  // Rows are given by TileCall::addresses.
  bool packs = false;       // The kernel makes panels and computes nothing.
  weights::Format weights = weights::Format::f32;
  weights::Blocks blocks = {};  // Of such a format.
  DType lhs = DType::f32;
  DType sums = DType::f32;

  friend bool operator==(const TileForm&, const TileForm&) = default;
};

// The number of tiles that prefetch a whole next panel if each of them fetches
// one cache line in every step of the depth.
constexpr int64_t fetching_tiles(int64_t panel_width) {
  constexpr int64_t kLine = support::kCacheLine;
  return panel_width * 4 > kLine ? panel_width * 4 / kLine : 1;
}

// Text that is equal for equal forms.
std::string form_key(const TileForm& form);

}  // namespace fxjit::program
