#include "src/program/windows/tiles.h"

#include <algorithm>

#include "src/program/windows/step.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// Rows of planes that are computed together. Short rows are mostly edges, whose
// masks serve more of them.
int64_t plane_rows(const WindowStep& step) {
  constexpr int64_t kShort = 4;  // Vectors of a row.
  const bool held = !step.has_weights() || holds_weights(step.tap_count());
  if (!held) return 4;
  if (!step.has_weights()) return 2;
  if (is_large_plane(step)) return 1;
  const bool is_short = step.columns() < kShort * step.code.lanes;
  return is_short && step.strides[1] == 1 ? 4 : 2;
}

WindowTile plane_tile(const WindowStep& step) {
  const bool held = !step.has_weights() || holds_weights(step.tap_count());
  WindowTile tile{plane_rows(step), 1};
  while (tile.rows > std::max<int64_t>(1, step.rows())) tile.rows /= 2;
  if (!held && step.columns() >= 2 * step.code.lanes) tile.across = 2;
  return tile;
}

// How many elements of the input lie under `results` along one dim.
int64_t under(const WindowStep& step, int dim, int64_t results) {
  const int64_t reach = (step.taps[dim] - 1) * step.dilations[dim] + 1;
  // With gaps between them, results share nothing.
  const bool shares = step.dilations[dim] == 1 && step.strides[dim] < reach;
  return shares ? (results - 1) * step.strides[dim] + reach
                : results * step.taps[dim];
}

// Instructions of a vector of channels for all results of a row of tiles and
// those below it, about.
double channel_cost(const WindowStep& step, WindowTile tile, int registers) {
  // What comes from the second-level cache takes twice as long as the first's,
  // which weights come from.
  constexpr double kLoad = 1.5, kTile = 4;
  const auto tiles =
      static_cast<double>(support::ceil_div(step.rows(), tile.rows) *
                          support::ceil_div(step.columns(), tile.across));
  const int64_t height = step.taps[0] * under(step, 1, tile.rows);
  const int64_t width = under(step, 2, tile.across);
  const int64_t results = tile.rows * tile.across;
  int64_t work = 0;
  if (step.has_weights()) {
    work = results * step.tap_count();
    const bool fits = results + tile.rows * step.taps[2] < registers;
    work += fits ? tile.rows * step.tap_count() : work / 2;
  } else {
    work = tile.rows *
           (step.taps[0] * step.taps[1] * width + tile.across * step.taps[2]);
  }
  return tiles * (static_cast<double>(work) + kTile +
                  kLoad * static_cast<double>(height * width));
}

WindowTile channel_tile(const WindowStep& step, CpuLevel level) {
  constexpr WindowTile kTiles[] = {{2, 4}, {1, 7}, {2, 2}, {1, 4}, {2, 1},
                                   {1, 2}, {1, 1}, {2, 7}, {4, 4}};
  const int registers = level == CpuLevel::avx512 ? 32 : 16;
  WindowTile best;
  double least = channel_cost(step, best, registers);
  for (const WindowTile& tile : kTiles) {
    if (tile.rows > step.rows() || tile.across > step.columns() ||
        tile.rows * tile.across * 2 > registers)
      continue;
    const double cost = channel_cost(step, tile, registers);
    if (cost < least) least = cost, best = tile;
  }
  return best;
}

// Places at which a tile has two vectors of results, so that an element is read
// once for both; 0 if results do not fill them. Sums of three taps and their
// weights fill sixteen registers then, and the addresses of places those that
// are left.
int64_t places_of_pairs(const WindowStep& step, CpuLevel level) {
  constexpr int64_t kPlaces = 4;
  const bool fill = step.code.groups == 1 &&
                    step.multiplier % (2 * step.code.lanes) == 0;
  return level == CpuLevel::avx2 && fill ? kPlaces : 0;
}

// Places of a tile of one vector. Sums take a register each, as do the weights
// of a row of few taps, and some are left for elements on their way.
int64_t most_places(const WindowStep& step, CpuLevel level) {
  const bool has_many = level == CpuLevel::avx512;
  const int64_t registers = has_many ? 32 : 16, most = has_many ? 14 : 12;
  const int64_t taps = step.taps[2];
  const int64_t held = taps <= kMostTapsInCode || step.is_spread() ? taps : 1;
  const int64_t free = 3 + (step.is_spread() ? 1 : step.code.groups - 1);
  return std::clamp<int64_t>(registers - held - free, 6, most);
}

WindowTile group_tile(const WindowStep& step, CpuLevel level) {
  const int64_t pairs = places_of_pairs(step, level);
  const int64_t fitting = pairs > 0 ? pairs : most_places(step, level);
  constexpr int64_t kStep = 2;  // What a tile takes beside its places.
  WindowTile tile;
  if (pairs > 0) tile.vectors = 2;
  int64_t least = 0;
  for (int64_t across = 1; across <= std::min(fitting, step.columns());
       ++across) {
    const int64_t cost =
        support::ceil_div(step.columns(), across) * (kStep + across);
    if (across > 1 && cost > least) continue;
    least = cost;
    tile.across = across;
  }
  return tile;
}

}  // namespace

bool is_large_plane(const WindowStep& step) {
  constexpr int64_t kLargePlane = int64_t{48} << 10;
  return step.sizes[1] * step.sizes[2] * int64_t{sizeof(float)} > kLargePlane;
}

WindowTile window_tile(const WindowStep& step, CpuLevel level) {
  if (step.sums_groups()) return group_tile(step, level);
  return step.channels_inner ? channel_tile(step, level) : plane_tile(step);
}

}  // namespace fxjit::program
