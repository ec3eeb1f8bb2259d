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
    : RowConv(params, input, weight), weight_step_(weight.strides()[0]) {}

size_t Depthwise::packed_bytes() const {
  return static_cast<size_t>(taps() * channels_) * sizeof(float);
}

ShapeKey Depthwise::packed_key() const {
  ShapeKey key = {channels_, weight_step_};
  add_windows(key);
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

void Depthwise::run_band(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t c = 0; c < channels_; c += kBandChannels)
    for (int64_t i = begin; i < end; ++i)
      depthwise_row({row_at(data, i), channels_}, c,
                    std::min(c + kBandChannels, channels_), data.level);
}

void Depthwise::run(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < end; i += kBandRows)
    run_band(data, i, std::min(i + kBandRows, end));
}

}  // namespace fxjit::kernels
