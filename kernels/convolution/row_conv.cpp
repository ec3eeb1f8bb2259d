#include "kernels/convolution/row_conv.h"

#include <algorithm>

#include "src/support/rounding.h"

namespace fxjit::kernels {
using support::ceil_div;

RowConv::RowConv(const ops::ConvParams& params, const Tensor& input,
                 const Tensor& weight)
    : images_(params.output[0]),
      image_step_(params.batched ? input.strides()[0] : Size(0)),
      channels_(params.output[1]),
      inputs_(weight.sizes()[1]),
      output_weight_(weight.strides()[0]),
      input_weight_(weight.strides()[1]),
      axes_(program::conv_axes(params, input, weight)),
      whole_(axes_[2].whole_places()) {}

int64_t RowConv::taps() const {
  return axes_[0].taps * axes_[1].taps * axes_[2].taps;
}

double RowConv::flops() const {
  return 2.0 * static_cast<double>(rows() * axes_[2].places * channels_) *
         static_cast<double>(taps() * inputs_);
}

size_t RowConv::packed_bytes() const {
  return static_cast<size_t>(taps() * inputs_ * channels_) * sizeof(float);
}

ShapeKey RowConv::packed_key() const {
  ShapeKey key = {channels_, inputs_, output_weight_, input_weight_};
  for (const ConvAxis& axis : axes_) {
    key.push_back(axis.taps);
    key.push_back(axis.weight_step);
  }
  return key;
}

void RowConv::pack(const float* weight, float* packed) const {
  const auto& [depth, height, width] = axes_;
  for (int64_t d = 0; d < depth.taps; ++d)
    for (int64_t h = 0; h < height.taps; ++h)
      for (int64_t t = 0; t < inputs_; ++t)
        for (int64_t w = 0; w < width.taps; ++w) {
          const float* from = weight + d * depth.weight_step +
                              h * height.weight_step + w * width.weight_step +
                              t * input_weight_;
          for (int64_t c = 0; c < channels_; ++c)
            *packed++ = from[c * output_weight_];
        }
}

ConvRow RowConv::row_at(const Data& data, int64_t index,
                        int64_t channel) const {
  const auto& [depth, height, width] = axes_;
  const int64_t slice = index / height.places;
  const int64_t y = index - slice * height.places;
  const int64_t image = depth.places == 1 ? slice : slice / depth.places;
  const int64_t z = slice - image * depth.places;
  const int64_t place = index * width.places;
  return {
      .input = data.input + image * image_step_ +
               (z * depth.stride - depth.pad) * depth.step +
               (y * height.stride - height.pad) * height.step -
               width.pad * width.step,
      .weight = data.packed,
      .bias = data.bias ? data.bias + channel : nullptr,
      .output = data.output + place * channels_ + channel,
      .kernel = {depth.taps, height.taps, width.taps},
      .tap_step = {depth.dilation * depth.step, height.dilation * height.step,
                   width.dilation * width.step},
      .taps = {depth.inside[static_cast<size_t>(z)],
               height.inside[static_cast<size_t>(y)]},
      .columns = width.inside.data(),
      .places = width.places,
      .place_step = width.stride * width.step,
      .whole = whole_,
      .ahead = {}};
}

bool RowConv::in_cache() const {
  constexpr int64_t kCacheFloats = int64_t{1} << 20;  // 4 MiB.
  return rows() * (axes_[1].stride * input_row() + output_row()) <=
         kCacheFloats;
}

RowAhead RowConv::ahead_of(const Data& data, int64_t index, int64_t part,
                           int64_t parts) const {
  if (index + 1 == rows() || in_cache()) return {};
  const auto lines = [&](const float* from, int64_t floats) {
    const int64_t first = part * floats / parts / RowAhead::kLine;
    const int64_t last = (part + 1) * floats / parts / RowAhead::kLine;
    return RowAhead::Lines{from + first * RowAhead::kLine, last - first,
                           ceil_div(last - first, axes_[2].places)};
  };
  const ConvRow next = row_at(data, index + 1);
  const auto& [planes, taps] = next.taps;
  const int64_t fresh = std::min(taps.last - taps.first, axes_[1].stride);
  if (fresh == 0 || planes.first == planes.last) return {};
  return {lines(next.input + axes_[2].pad * axes_[2].step +
                    (planes.last - 1) * next.tap_step[0] +
                    (taps.last - fresh) * next.tap_step[1],
                fresh * input_row()),
          lines(next.output, output_row())};
}

}  // namespace fxjit::kernels
