#include "kernels/convolution/depthwise.h"

#include <algorithm>

namespace fxjit::kernels {
namespace {

// Rows and channels whose input stays in the caches while windows move over it.
constexpr int64_t kBandRows = 16;
constexpr int64_t kBandChannels = 128;

}  // namespace

Depthwise::Depthwise(const ops::ConvParams& params, const Tensor& input,
                     const Tensor& weight)
    : images_(params.output[0]),
      channels_(params.output[1]),
      image_step_(params.batched ? input.strides()[0] : 0),
      axes_(conv_axes(params, input, weight)),
      whole_(axes_[2].whole_places()) {
  weight_step_ = weight.strides()[0];
}

int64_t Depthwise::taps() const {
  return axes_[0].taps * axes_[1].taps * axes_[2].taps;
}

double Depthwise::flops() const {
  return 2.0 * static_cast<double>(rows() * axes_[2].places * channels_) *
         static_cast<double>(taps());
}

size_t Depthwise::packed_bytes() const {
  return static_cast<size_t>(taps() * channels_) * sizeof(float);
}

ShapeKey Depthwise::packed_key() const {
  ShapeKey key = {channels_};
  for (const ConvAxis& axis : axes_) key.push_back(axis.taps);
  key.push_back(weight_step_);
  for (const ConvAxis& axis : axes_) key.push_back(axis.weight_step);
  return key;
}

void Depthwise::pack(const float* weight, float* packed) const {
  for (int64_t d = 0; d < axes_[0].taps; ++d)
    for (int64_t h = 0; h < axes_[1].taps; ++h)
      for (int64_t w = 0; w < axes_[2].taps; ++w) {
        const float* from = weight + d * axes_[0].weight_step +
                            h * axes_[1].weight_step + w * axes_[2].weight_step;
        for (int64_t c = 0; c < channels_; ++c)
          *packed++ = from[c * weight_step_];
      }
}

DepthwiseRow Depthwise::row_at(const Data& data, int64_t index) const {
  DepthwiseRow row{conv_row(axes_, data.input, image_step_, index)};
  row.weight = data.packed;
  row.bias = data.bias;
  row.output = data.output + index * row.places * channels_;
  row.channels = channels_;
  row.whole = whole_;
  row.work = data.work.at(index * row.places);
  return row;
}

void Depthwise::run_band(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t c = 0; c < channels_; c += kBandChannels)
    for (int64_t i = begin; i < end; ++i)
      depthwise_row(row_at(data, i), c, std::min(c + kBandChannels, channels_),
                    data.level);
}

void Depthwise::run(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < end; i += kBandRows)
    run_band(data, i, std::min(i + kBandRows, end));
}

}  // namespace fxjit::kernels
