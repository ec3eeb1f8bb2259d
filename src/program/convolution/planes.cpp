#include "src/program/convolution/planes.h"

#include <algorithm>
#include <numeric>

#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;
using support::round_up;

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -ceil_div(-a, b);
}

}  // namespace

PlaneTaps::PlaneTaps(const ConvAxis& axis)
    : stride(axis.stride), size(axis.size), places(axis.places) {
  for (int64_t t = 0; t < axis.taps; ++t) {
    const int64_t at = t * axis.dilation - axis.pad;
    const int64_t shift = floor_div(at, stride), rest = at - shift * stride;
    const auto found = std::find(first.begin(), first.end(), rest);
    taps.push_back({found - first.begin(), shift});
    if (found == first.end()) first.push_back(rest);
    least = t == 0 ? shift : std::min(least, shift);
    most = t == 0 ? shift : std::max(most, shift);
  }
}

PlaneLayout::PlaneLayout(const std::array<ConvAxis, 3>& axes, int64_t channels,
                         int64_t lanes)
    : height(axes[1]),
      width(axes[2]),
      depth_taps(axes[0].taps),
      channels(channels),
      lanes(lanes) {
  // What the planes of a tile should take, what they may take if that is less
  // than some rows, and the columns of a tile that is no row.
  constexpr int64_t kTileFloats = 20 << 10, kLargeFloats = 64 << 10;
  constexpr int64_t kFewRows = 8, kFewColumns = 64;
  set_tile(1, width.places);
  const int64_t one_row = plane_floats();
  if (one_row > kLargeFloats && width.places > kFewColumns) {
    const int64_t column = one_row / width.places;
    set_tile(1, std::max(kFewColumns, kTileFloats / column / lanes * lanes));
    return;
  }
  const int64_t next_row = (one_row - lead) / plane * pitch;
  const auto rows_within = [&](int64_t floats) {
    return std::max<int64_t>(1, 1 + (floats - one_row) / next_row);
  };
  const int64_t few = std::min(kFewRows, rows_within(kLargeFloats));
  set_tile(std::min(height.places, std::max(few, rows_within(kTileFloats))),
           width.places);
}

void PlaneLayout::set_tile(int64_t most_rows, int64_t most_columns) {
  rows = most_rows;
  columns = most_columns;
  pitch = columns == width.places
              ? std::max(ceil_div(width.size, width.stride), columns)
              : columns + width.spread();
  const int64_t before = std::max<int64_t>(0, -height.least) * pitch;
  lead = round_up(before + std::max<int64_t>(0, -width.least), kMostLanes);
  const int64_t behind = std::max<int64_t>(0, height.most) * pitch +
                         std::max<int64_t>(0, width.most);
  plane = round_up(before + rows * pitch + behind + 2 * kMostLanes, kMostLanes);
  // Planes at multiples of four lines would share few sets of the cache.
  plane += plane % (4 * kMostLanes) == 0 ? kMostLanes : 0;
  rows_apart = width.slots() * channels * plane;
  slices_apart = height.slots() * rows_apart;
  tap_offsets.clear();
  for (const PlaneTaps::Tap& h : height.taps)
    for (const PlaneTaps::Tap& w : width.taps)
      tap_offsets.push_back(h.slot * rows_apart + w.slot * channels * plane +
                            h.shift * pitch + w.shift);
}

bool PlaneLayout::is_efficient() const {
  constexpr int64_t kFewRows = 4;
  return rows >=
             std::min(height.places, std::max(kFewRows, 2 * height.spread())) ||
         height.spread() == 0;
}

int64_t PlaneLayout::vectors() const { return ceil_div(rows * pitch, lanes); }

int64_t PlaneLayout::mask_bytes() const {
  return vectors() * static_cast<int64_t>(tap_offsets.size()) *
         mask_bytes(lanes);
}

int64_t groups_of_part(int64_t channels, int64_t inputs) {
  constexpr int64_t kChannels = 36;
  const int64_t unit = 4 / std::gcd(inputs, int64_t{4});
  const int64_t units = std::max<int64_t>(1, kChannels / (unit * inputs));
  return std::min(channels / inputs, unit * units);
}

}  // namespace fxjit::program
