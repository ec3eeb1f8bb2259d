#include "src/program/tiles/cut.h"

#include <algorithm>

#include "src/program/tiles/step.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// Blocks of rows are a multiple of this many rows, which every height of full
// tiles divides.
constexpr int64_t kWholeTiles = 24;
// Usual rows of a block. A block's rows of the left factor and of the result
// fit the second-level cache, and there are enough blocks for the threads.
constexpr int64_t kRowBlock = 96;
// Products of fewer rows have one block; pieces of it would need kernels of
// other heights.
constexpr int64_t kLeastRows = 48;
// The greatest height of a tile, that of a narrow one.
constexpr int64_t kTallest = 8;
// With up to kFewBlocks blocks, their sizes differ by at most one part in
// kUneven.
constexpr int64_t kFewBlocks = 4, kUneven = 10;
// Up to this size, weights stay in the second-level cache, and every block of
// rows may read all of them.
constexpr int64_t kCachedWeights = int64_t{2} << 20;
// With at least this many panels, threads can divide a product panel by panel.
constexpr int64_t kManyPanels = 8;
// Usual rows of a block when threads divide panels. The block only has to fit
// the second-level cache.
constexpr int64_t kPanelRowBlock = 192;

// Of panels that a task makes itself: bytes of a group, which stays in the
// second-level cache beside a block of rows, and most panels.
constexpr int64_t kGroupBytes = int64_t{128} << 10;
constexpr int64_t kMostGrouped = 8;
// Rows of a block that reads them.
constexpr int64_t kPackedRowBlock = 192;

int64_t nearest(int64_t rows, int64_t multiple) {
  return (rows + multiple / 2) / multiple * multiple;
}

// The first row of block `block`. Where there are few blocks, equal sizes count
// more than whole tiles.
int64_t start_of(int64_t block, int64_t rows, int64_t blocks) {
  const int64_t even = block * rows / blocks;
  if (blocks > kFewBlocks) return even / kWholeTiles * kWholeTiles;
  const int64_t start = nearest(even, kWholeTiles);
  const int64_t off = std::max(start - even, even - start);
  return off * kUneven * blocks <= rows ? start : nearest(even, kTallest);
}

std::vector<int64_t> whole_tiles(int64_t rows, int64_t blocks) {
  std::vector<int64_t> starts;
  for (int64_t block = 0; block < blocks; ++block)
    starts.push_back(start_of(block, rows, blocks));
  starts.push_back(rows);
  return starts;
}

// Cuts the rows into two blocks whose tiles have the height that tiles of one
// block would have.
std::vector<int64_t> two_blocks(int64_t rows) {
  const int64_t tiles = (rows + kTallest - 1) / kTallest;
  const int64_t height = (rows + tiles - 1) / tiles;
  return {0, tiles / 2 * height, rows};
}

std::vector<int64_t> even_blocks(int64_t rows) {
  if (rows < kLeastRows) return {0, rows};
  if (rows < 2 * kLeastRows) return two_blocks(rows);
  const int64_t least = rows < kFewBlocks * kLeastRows ? 2 : kFewBlocks;
  return whole_tiles(rows, std::max(rows / kRowBlock, least));
}

// Panels of a task that makes them. A row of a group is read at once, since
// rows of an image lie pages apart.
int64_t group_of(const TileStep& step, int64_t panels, int64_t panel_bytes) {
  const int64_t most =
      std::clamp<int64_t>(kGroupBytes / panel_bytes, 1, kMostGrouped);
  return std::clamp<int64_t>(step.batch * panels / kManyPanels, 1, most);
}

TileCut packing_cut(const TileStep& step, const weights::RegisterTile& tile) {
  TileCut cut;
  cut.panels = support::ceil_div(step.columns, tile.width());
  const int64_t bytes = weights::packed_depth(step.depth) * tile.width() * 4;
  cut.group = group_of(step, cut.panels, std::max<int64_t>(1, bytes));
  cut.starts = step.batch * cut.groups() < kManyPanels
                   ? even_blocks(step.rows)
                   : whole_tiles(step.rows, support::ceil_div(
                                                std::max<int64_t>(1, step.rows),
                                                kPackedRowBlock));
  return cut;
}

}  // namespace

int64_t TileCut::most_rows() const {
  int64_t most = 0;
  for (size_t i = 1; i < starts.size(); ++i)
    most = std::max(most, starts[i] - starts[i - 1]);
  return most;
}

TileCut tile_cut(const TileStep& step, const weights::RegisterTile& tile) {
  if (step.makes_panels()) return packing_cut(step, tile);
  const int64_t weights = step.depth * step.columns;
  const int64_t images = step.rows * (step.depth + step.columns);
  constexpr auto kFloat = static_cast<int64_t>(sizeof(float));
  TileCut cut;
  cut.panels = support::ceil_div(step.columns, tile.width());
  cut.rows_first = weights * kFloat <= kCachedWeights || weights <= images;
  const bool even = cut.rows_first || cut.panels < kManyPanels;
  cut.starts =
      even ? even_blocks(step.rows)
           : whole_tiles(step.rows,
                         std::max<int64_t>(1, (step.rows + kPanelRowBlock - 1) /
                                                  kPanelRowBlock));
  return cut;
}

}  // namespace fxjit::program
