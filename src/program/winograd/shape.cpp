#include "src/program/winograd/shape.h"

#include <algorithm>

#include "src/program/winograd/step.h"
#include "src/support/machine/cache_line.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;

// Most tiles in a group: their sums fit the registers, beside a row of weights
// and an input.
int64_t max_group(const weights::WinogradPanels& panels, CpuLevel level) {
  if (level == CpuLevel::avx512) return panels.vectors == 1 ? 12 : 8;
  return 12 / panels.vectors;
}

// The size of all groups that takes the least work. A group costs half a tile
// by itself, for loading the weights.
int64_t group_of(int64_t tiles, int64_t most) {
  int64_t best = most;
  const auto work = [&](int64_t group) {
    return ceil_div(tiles, group) * (2 * group + 1);
  };
  for (int64_t group = most; group > most / 2; --group)
    if (work(group) < work(best)) best = group;
  return std::max<int64_t>(1, std::min(best, tiles));
}

// Groups in a block of tiles. Every block reads all weights. If these stay in
// the second-level cache, small blocks do; if they come from memory, a block
// has as many tiles as the cache holds.
int64_t groups_of_block(const WinogradStep& step, const WinogradShape& shape) {
  constexpr int64_t kCachedTiles = 768 << 10;
  // Weights of integers are half as large, and products read them as fast.
  constexpr int64_t kCachedIntegers = 256 << 10;
  const int64_t least = ceil_div(16, shape.group);
  if (!shape.weights_exceed_cache) return least;
  const int64_t each = 4 * shape.slots * (step.words() + shape.panels.width());
  const int64_t cached =
      step.input == DType::f32 ? kCachedTiles : kCachedIntegers;
  return std::max(least, cached / (each * shape.group));
}

}  // namespace

WinogradShape winograd_shape(const WinogradStep& step, CpuLevel level) {
  WinogradShape shape;
  shape.panels = weights::winograd_panels(step.features, step.tile, level);
  constexpr int64_t kCachedWeights = 1 << 20;  // Bytes.
  shape.weights_exceed_cache =
      weights::winograd_elements(shape.panels, step.words()) * 4 >
      kCachedWeights;
  shape.tiles = step.batch * ceil_div(step.out_height, step.tile) *
                ceil_div(step.out_width, step.tile);
  shape.slots = shape.panels.frequencies | 1;
  shape.group = group_of(shape.tiles, max_group(shape.panels, level));
  shape.groups = ceil_div(shape.tiles, shape.group);
  shape.tile_blocks = std::max<int64_t>(
      1, ceil_div(shape.groups, groups_of_block(step, shape)));
  shape.block = ceil_div(shape.groups, shape.tile_blocks) * shape.group;
  shape.channel_blocks = ceil_div(step.words(), shape.panels.lanes);
  // Regions begin with a cache line.
  constexpr int64_t kLine = support::kLineFloats;
  shape.sums_at = shape.channel_blocks * shape.channel_block_floats();
  shape.sums_at = ceil_div(shape.sums_at, kLine) * kLine;
  shape.zeros_at = shape.sums_at + shape.block * shape.sums_floats();
  shape.zeros_at = ceil_div(shape.zeros_at, kLine) * kLine;
  shape.places_at = shape.zeros_at + ceil_div(step.words(), kLine) * kLine;
  const int64_t places_row = step.tile == 4 ? 8 : 4;
  shape.total = shape.places_at + 2 * (step.tile + 2) * places_row;
  return shape;
}

}  // namespace fxjit::program
