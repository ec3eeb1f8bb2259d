#include "kernels/convolution/planar_groups.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "fxjit/error.h"
#include "kernels/convolution/grouped_conv.h"
#include "src/support/rounding.h"
#include "src/weights/panels.h"

#define FXJIT_LEVEL_CODE "kernels/convolution/planar_groups_loops.h"

namespace fxjit::kernels {
namespace {

using support::ceil_div;
using support::round_up;

#include "kernels/each_level.h"

}  // namespace

PlanarGroups::PlanarGroups(const ops::ConvParams& params, const Tensor& input,
                           const Tensor& weight, CpuLevel level)
    : RowConv(params, input, weight),
      part_groups_(program::groups_of_part(channels_, inputs_)),
      most_outputs_(PlanePart::most_outputs(weights::tile_shape(level).lanes)),
      layout_(axes_, part_groups_ * inputs_, weights::tile_shape(level).lanes) {
}

size_t PlanarGroups::scratch_bytes() const {
  const int64_t taps = axes_[1].taps * axes_[2].taps;
  const int64_t floats = layout_.plane_floats() + layout_.result_floats();
  const int64_t of_vector = int64_t{sizeof(PlaneTile::Vector)} +
                            taps * PlaneTile::mask_bytes(layout_.lanes);
  return static_cast<size_t>(
      round_up(floats * int64_t{sizeof(float)} + layout_.vectors() * of_vector,
               int64_t{64}));
}

int64_t PlanarGroups::weight_floats() const {
  return channels_ * inputs_ * taps();
}

size_t PlanarGroups::packed_bytes() const {
  return static_cast<size_t>(weight_floats() + 1) * sizeof(float);
}

ShapeKey PlanarGroups::packed_key() const {
  ShapeKey key = RowConv::packed_key();
  key.push_back(most_outputs_);
  return key;
}

void PlanarGroups::pack(const float* weight, float* packed) const {
  const auto& [depth, height, width] = axes_;
  const float* first = packed;
  for (int64_t group = 0; group < channels_; group += inputs_)
    PlanePart::each_block(
        inputs_, most_outputs_, [&](int64_t begin, int64_t end) {
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
      .masks = reinterpret_cast<std::byte*>(lanes + layout_.vectors())};
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
