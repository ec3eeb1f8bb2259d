#include "kernels/convolution/planar_groups.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "fxjit/error.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

#define FXJIT_LEVEL_CODE "kernels/convolution/planar_groups_loops.h"

namespace fxjit::kernels {
namespace {

using support::kCacheLine;
using support::round_up;

#include "kernels/each_level.h"

}  // namespace

PlanarGroups::PlanarGroups(const ops::ConvParams& params, const Tensor& input,
                           const Tensor& weight, CpuLevel level)
    : RowConv(params, input, weight),
      part_groups_(program::groups_of_part(channels_, inputs_)),
      layout_(axes_, part_groups_ * inputs_, support::vector_lanes(level)) {}

// Planes, results, the vectors' lanes and their masks, each from a cache line
// on.
size_t PlanarGroups::scratch_bytes() const {
  const int64_t floats = layout_.plane_floats() + layout_.result_floats();
  return static_cast<size_t>(floats * int64_t{sizeof(float)} + lanes_bytes() +
                             round_up(layout_.mask_bytes(), kCacheLine));
}

int64_t PlanarGroups::lanes_bytes() const {
  return round_up(layout_.vectors() * int64_t{sizeof(PlaneTile::Vector)},
                  kCacheLine);
}

int64_t PlanarGroups::weight_floats() const {
  return channels_ * inputs_ * taps();
}

size_t PlanarGroups::packed_bytes() const {
  return static_cast<size_t>(weight_floats() + 1) * sizeof(float);
}

ShapeKey PlanarGroups::packed_key() const {
  ShapeKey key = RowConv::packed_key();
  key.push_back(PlanePart::most_outputs(layout_.lanes));
  return key;
}

void PlanarGroups::pack(const float* weight, float* packed) const {
  const auto& [depth, height, width] = axes_;
  const float* first = packed;
  for (int64_t group = 0; group < channels_; group += inputs_)
    PlanePart::each_block(
        inputs_, PlanePart::most_outputs(layout_.lanes),
        [&](int64_t begin, int64_t end) {
          for (int64_t d = 0; d < depth.taps; ++d)
            for (int64_t h = 0; h < height.taps; ++h)
              for (int64_t w = 0; w < width.taps; ++w)
                for (int64_t i = 0; i < inputs_; ++i)
                  for (int64_t c = begin; c < end; ++c)
                    *packed++ =
                        weight[(group + c) * output_weight_ +
                               i * input_weight_ + d * depth.weight_step +
                               h * height.weight_step + w * width.weight_step];
        });
  *packed = std::all_of(first, static_cast<const float*>(packed),
                        [](float x) { return std::isfinite(x); });
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
      .finite = data.packed[weight_floats()] != 0,
      .bias = data.bias,
      .output = data.output + place * channels_,
      .output_step = channels_,
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
  }
}

void PlanarGroups::run(const Data& data, int64_t begin, int64_t end) const {
  const int64_t rows = axes_[1].places, columns = axes_[2].places;
  auto* lanes = reinterpret_cast<std::byte*>(
      data.scratch + layout_.plane_floats() + layout_.result_floats());
  PlaneTile tile{.layout = &layout_,
                 .lanes = reinterpret_cast<PlaneTile::Vector*>(lanes),
                 .masks = lanes + lanes_bytes()};
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
