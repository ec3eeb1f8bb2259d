// Winograd's minimal filtering F(m x m, 3x3): the result is cut into tiles of
// m x m pixels, each tile's (m+2)^2 inputs are transformed, multiplied with
// transformed weights frequency by frequency (a matrix product over channels),
// and transformed back. What planner, packing and code generator must agree on.
//
// Integers of 8 bits are transformed in 16 bits, exactly: their sums are
// products of pairs of channels, a pair being a word of 32 bits where floats
// have one channel. Weights are four times as large, so that halves are whole,
// and the sums transformed back a multiple of four.
//
// F(4) has the points 0, +-sqrt(1/2), +-sqrt(2), infinity, whose rounding
// errors are half of those of 0, +-1, +-2; F(2) has 0, +-1, infinity.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"
#include "src/program/steps/fields.h"
#include "src/weights/winograd.h"

namespace fxjit::program {

struct WinogradStep;

// How a step is cut into tasks, and where the regions of a thread's scratch
// begin. A task is one block of tiles by one panel of features. Tasks of one
// block follow one another, so that they share its transformed input.
struct WinogradShape {
  weights::WinogradPanels panels;
  bool weights_exceed_cache = false;  // The second-level one.
  int64_t tiles = 0;                  // Of all images.
  int64_t group = 0;        // Tiles whose sums are in registers at once.
  int64_t groups = 0;       // The last one may reach behind the last tile.
  int64_t tile_blocks = 0;  // Block i is groups [i * groups / blocks, ...).
  int64_t block = 0;        // Tiles of the longest.
  // Distance between the tiles in scratch, in frequencies. It is odd, so that
  // tiles do not share sets of the first-level cache.
  int64_t slots = 0;
  int64_t channel_blocks = 0;  // Vectors of channels' words; the last one ends
                               // with the last word and may overlap.
  // Scratch regions, in floats or other words from its start.
  // Inputs come first: [channel_blocks][block][slots][lanes].
  int64_t sums_at = 0;    // [block][slots][panel width]
  int64_t zeros_at = 0;   // [words], read in place of padding.
  int64_t places_at = 0;  // Addresses of a tile's pixels, [m + 2][4 or 8].
  int64_t total = 0;

  int64_t tile_floats() const { return slots * panels.lanes; }
  int64_t channel_block_floats() const { return block * tile_floats(); }
  int64_t sums_floats() const { return slots * panels.width(); }

  friend bool operator==(const WinogradShape&, const WinogradShape&) = default;
};

template <typename V>
void fields(Is<weights::WinogradPanels> auto& s, V& v) {
  v("lanes", s.lanes), v("vectors", s.vectors), v("panels", s.panels);
  v("frequencies", s.frequencies);
}
template <typename V>
void fields(Is<WinogradShape> auto& s, V& v) {
  v("panels", s.panels), v("weights_exceed_cache", s.weights_exceed_cache);
  v("tiles", s.tiles), v("group", s.group), v("groups", s.groups);
  v("tile_blocks", s.tile_blocks), v("block", s.block), v("slots", s.slots);
  v("channel_blocks", s.channel_blocks), v("sums_at", s.sums_at);
  v("zeros_at", s.zeros_at), v("places_at", s.places_at), v("total", s.total);
}

WinogradShape winograd_shape(const WinogradStep& step, CpuLevel level);

}  // namespace fxjit::program
