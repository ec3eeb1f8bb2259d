#include "kernels/convolution/planar_groups.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "fxjit/error.h"
#include "kernels/convolution/grouped_conv.h"
#include "src/support/rounding.h"

#define FXJIT_LEVEL_CODE "kernels/convolution/planar_groups_loops.h"

namespace fxjit::kernels {
namespace {

using support::ceil_div;
using support::round_up;

#include "kernels/each_level.h"

// Groups whose places are turned together: they begin and end between four
// channels, as no read or write of four crosses a cache line then, and share
// lines with few others.
int64_t groups_of_part(int64_t channels, int64_t inputs) {
  constexpr int64_t kChannels = 36;
  const int64_t unit = 4 / std::gcd(inputs, int64_t{4});
  const int64_t units = std::max<int64_t>(1, kChannels / (unit * inputs));
  return std::min(channels / inputs, unit * units);
}

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -ceil_div(-a, b);
}

// Whether masks can count places in 32 bits, and sizes of planes in 64; windows
// without taps need no planes.
bool has_small_dims(const ops::ConvParams& params, const Tensor& input,
                    const Tensor& weight) {
  constexpr int64_t kMostPlaces = int64_t{1} << 29;
  constexpr int64_t kMostReach = int64_t{1} << 16;
  const int first = params.batched ? 2 : 1;
  for (int i = 0; i < params.spatial; ++i)
    if (input.sizes()[first + i] > kMostPlaces ||
        params.pad_before[i] > kMostPlaces ||
        params.stride[i] > kMostPlaces / params.output[2 + i] ||
        weight.sizes()[2 + i] == 0 ||
        weight.sizes()[2 + i] > kMostReach / params.dilation[i])
      return false;
  return true;
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

PlaneLayout::PlaneLayout(const std::array<ConvAxis, 3>& axes, int64_t channels)
    : height(axes[1]),
      width(axes[2]),
      depth_taps(axes[0].taps),
      channels(channels) {
  // What the planes of a tile should take, what they may take if that is less
  // than some rows, and the columns of a tile that is no row.
  constexpr int64_t kTileFloats = 20 << 10, kLargeFloats = 64 << 10;
  constexpr int64_t kFewRows = 8, kFewColumns = 64;
  set_tile(1, width.places);
  const int64_t one_row = plane_floats();
  if (one_row > kLargeFloats && width.places > kFewColumns) {
    const int64_t column = one_row / width.places;
    set_tile(1, std::max(kFewColumns, kTileFloats / column / kLanes * kLanes));
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
  lead = round_up(before + std::max<int64_t>(0, -width.least), kLanes);
  const int64_t behind = std::max<int64_t>(0, height.most) * pitch +
                         std::max<int64_t>(0, width.most);
  plane = round_up(before + rows * pitch + behind + 2 * kLanes, kLanes);
  // Planes at multiples of four lines would share few sets of the cache.
  plane += plane % (4 * kLanes) == 0 ? kLanes : 0;
  tap_offsets.clear();
  for (const PlaneTaps::Tap& h : height.taps)
    for (const PlaneTaps::Tap& w : width.taps)
      tap_offsets.push_back(h.slot * rows_apart() + w.slot * channels * plane +
                            h.shift * pitch + w.shift);
}

bool PlaneLayout::is_efficient() const {
  constexpr int64_t kFewRows = 4;
  return rows >=
             std::min(height.places, std::max(kFewRows, 2 * height.spread())) ||
         height.spread() == 0;
}

int64_t PlaneLayout::vectors() const { return ceil_div(rows * pitch, kLanes); }

PlanarGroups::PlanarGroups(const ops::ConvParams& params, const Tensor& input,
                           const Tensor& weight)
    : RowConv(params, input, weight),
      part_groups_(groups_of_part(channels_, inputs_)),
      layout_(axes_, part_groups_ * inputs_) {}

bool PlanarGroups::fits(const ops::ConvParams& params, const Tensor& input,
                        const Tensor& weight, CpuLevel level) {
  constexpr int64_t kMostFloats = int64_t{1} << 18;  // Of planes.
  const int64_t channels = weight.sizes()[1];
  if (level != CpuLevel::avx512 || channels <= 4 ||
      !has_small_dims(params, input, weight))
    return false;
  const PlanarGroups conv(params, input, weight);
  if (conv.layout_.plane_floats() > kMostFloats) return false;
  // Others have loops that turn sums. With a stride of two there is four times
  // as much to turn here.
  return channels > GroupedConv::kMost ||
         (params.stride.back() == 1 && conv.layout_.is_efficient());
}

size_t PlanarGroups::scratch_bytes() const {
  const int64_t taps = axes_[1].taps * axes_[2].taps;
  const auto floats =
      static_cast<size_t>(layout_.plane_floats() + layout_.result_floats());
  const auto vectors = static_cast<size_t>(layout_.vectors());
  return round_up(floats * sizeof(float) + vectors * sizeof(PlaneTile::Vector) +
                      vectors * static_cast<size_t>(taps) * sizeof(uint16_t),
                  size_t{64});
}

ShapeKey PlanarGroups::packed_key() const {
  ShapeKey key = RowConv::packed_key();
  key.push_back(PlanePart::kMostOutputs);
  return key;
}

void PlanarGroups::pack(const float* weight, float* packed) const {
  const auto& [depth, height, width] = axes_;
  for (int64_t group = 0; group < channels_; group += inputs_)
    PlanePart::each_block(inputs_, [&](int64_t begin, int64_t end) {
      for (int64_t d = 0; d < depth.taps; ++d)
        for (int64_t h = 0; h < height.taps; ++h)
          for (int64_t w = 0; w < width.taps; ++w)
            for (int64_t i = 0; i < inputs_; ++i)
              for (int64_t c = begin; c < end; ++c)
                *packed++ =
                    weight[(group + c) * output_weight_ + i * input_weight_ +
                           d * depth.weight_step + h * height.weight_step +
                           w * width.weight_step];
    });
}

void PlanarGroups::run_tile(const Data& data, const PlaneTile& tile,
                            int64_t slice) const {
  const auto& [depth, height, width] = axes_;
  const int64_t image = slice / depth.places, z = slice - image * depth.places;
  const int64_t place =
      (slice * height.places + tile.row) * width.places + tile.column;
  PlanePart part{
      .tile = &tile,
      .input = data.input + image * image_step_ +
               (z * depth.stride - depth.pad) * depth.step,
      .steps = {depth.dilation * depth.step, height.step, width.step},
      .slices = depth.inside[static_cast<size_t>(z)],
      .weight = data.packed,
      .bias = data.bias,
      .output = data.output + place * channels_,
      .output_step = channels_,
      .work = data.work.at(place),
      .planes = data.scratch + layout_.lead,
      .results = data.scratch + layout_.plane_floats(),
      .groups = part_groups_,
      .inputs = inputs_};
  const int64_t groups = channels_ / inputs_;
  for (int64_t first = 0; first < groups; first += part_groups_) {
    part.groups = std::min(part_groups_, groups - first);
    at_level(data.level, part);
    const int64_t channels = part.groups * inputs_;
    part.input += channels;
    part.weight += channels * inputs_ * taps();
    if (part.bias) part.bias += channels;
    part.output += channels;
    part.work = part.work.at(0, channels);
  }
}

void PlanarGroups::run(const Data& data, int64_t begin, int64_t end) const {
  const int64_t rows = axes_[1].places, columns = axes_[2].places;
  auto* lanes = reinterpret_cast<PlaneTile::Vector*>(
      data.scratch + layout_.plane_floats() + layout_.result_floats());
  PlaneTile tile{
      .layout = &layout_,
      .lanes = lanes,
      .masks = reinterpret_cast<uint16_t*>(lanes + layout_.vectors())};
  for (int64_t at = begin; at < end; at += tile.rows) {
    tile.row = at % rows;
    tile.rows = std::min({layout_.rows, rows - tile.row, end - at});
    for (tile.column = 0; tile.column < columns; tile.column += tile.columns) {
      tile.columns = std::min(layout_.columns, columns - tile.column);
      at_level(data.level, tile);
      run_tile(data, tile, at / rows);
    }
  }
}

}  // namespace fxjit::kernels
