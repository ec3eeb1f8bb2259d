#include "kernels/convolution/row_conv.h"

#include <algorithm>

namespace fxjit::kernels {

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

ConvRow RowConv::row_at(const Data& data, int64_t index) const {
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
      .bias = data.bias,
      .output = data.output + place * channels_,
      .kernel = {depth.taps, height.taps, width.taps},
      .tap_step = {depth.dilation * depth.step, height.dilation * height.step,
                   width.dilation * width.step},
      .taps = {depth.inside[static_cast<size_t>(z)],
               height.inside[static_cast<size_t>(y)]},
      .columns = width.inside.data(),
      .places = width.places,
      .place_step = width.stride * width.step,
      .whole = whole_};
}

}  // namespace fxjit::kernels
