// What the code of a contraction's tiles depends on, and what it is given.
// Sizes are arguments, so that products of many sizes, and so programs of many
// shapes, share few kernels.
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

// A run of tiles, one below the other. Strides are in elements.
struct TileCall {
  const float* lhs;
  const void* weights;          // Of the panel.
  const TileOperand* operands;  // Extras, then outputs.
  int64_t first_tile;           // Number of the first within its block.
  int64_t tiles;
  int64_t depth;
  int64_t lhs_row;
  int64_t panel_bytes;  // From panel to panel.
  // A line of the next panel is fetched in 1 << fetch_shift steps of the depth.
  int64_t fetch_shift;
  int64_t last_lanes;
  // For the paired formats: the exponents of f28 by code, or the steps of this
  // panel's columns; and what is to be added to the sums, row by row.
  const void* table;
  const float* start;
};

using TileFn = void (*)(const TileCall* call);

// The code of one tile: sums of `rows` rows by `vectors` vectors of each of
// `panels` panels over any depth, then the epilogue.
struct TileForm : Epilogue {  // Without sizes.
  using Fn = TileFn;

  int rows = 1;
  int vectors = 1;
  // The last vector has TileCall::last_lanes lanes; so in all but full panels.
  bool masked = false;
  // Neighbouring panels computed together: single rows would otherwise stop and
  // start with every panel.
  int panels = 1;
  // Parts into which the depth is cut where few rows leave registers unused:
  // more independent sums, and as many streams of weights.
  int depth_parts = 1;
  bool prefetches = false;  // The panel that is read next.
  weights::Format weights = weights::Format::f32;
  DType lhs = DType::f32;
  DType sums = DType::f32;

  friend bool operator==(const TileForm&, const TileForm&) = default;
};

// So many tiles fetch the next panel if each fetches a line in every step of
// the depth.
constexpr int64_t fetching_tiles(int64_t panel_width) {
  constexpr int64_t kLine = support::kCacheLine;
  return panel_width * 4 > kLine ? panel_width * 4 / kLine : 1;
}

// Text that is equal for equal forms.
std::string form_key(const TileForm& form);

}  // namespace fxjit::program
