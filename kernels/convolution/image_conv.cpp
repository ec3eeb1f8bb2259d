#include "kernels/convolution/image_conv.h"

namespace fxjit::kernels {

ImageConv::ImageConv(const ops::ConvParams& params, const Tensor& input,
                     const Tensor& weight)
    : RowConv(params, input, weight),
      channel_step_(input.strides()[1]),
      channel_weight_step_(weight.strides()[1]),
      feature_step_(weight.strides()[0]) {}

size_t ImageConv::packed_bytes() const {
  return static_cast<size_t>(taps() * inputs_ * channels_) * sizeof(float);
}

ShapeKey ImageConv::packed_key() const {
  ShapeKey key = {inputs_, channel_weight_step_, channels_, feature_step_};
  add_windows(key);
  return key;
}

void ImageConv::pack(const float* weight, float* packed) const {
  for (int64_t d = 0; d < axes_[0].taps; ++d)
    for (int64_t h = 0; h < axes_[1].taps; ++h)
      for (int64_t c = 0; c < inputs_; ++c)
        for (int64_t w = 0; w < axes_[2].taps; ++w)
          for (int64_t f = 0; f < channels_; ++f)
            *packed++ =
                weight[d * axes_[0].weight_step + h * axes_[1].weight_step +
                       w * axes_[2].weight_step + c * channel_weight_step_ +
                       f * feature_step_];
}

void ImageConv::run(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < end; ++i)
    image_row({row_at(data, i), inputs_, channel_step_, channels_}, data.level);
}

}  // namespace fxjit::kernels
