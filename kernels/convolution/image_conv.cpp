#include "kernels/convolution/image_conv.h"

namespace fxjit::kernels {
ImageConv::ImageConv(const ops::ConvParams& params, const Tensor& input,
                     const Tensor& weight)
    : images_(params.output[0]),
      image_step_(input.strides()[0]),
      channels_(weight.sizes()[1]),
      channel_step_(input.strides()[1]),
      channel_weight_step_(weight.strides()[1]),
      features_(params.output[1]),
      feature_step_(weight.strides()[0]),
      axes_(conv_axes(params, input, weight)),
      whole_(axes_[2].whole_places()) {}

double ImageConv::flops() const {
  return static_cast<double>(rows() * axes_[2].places) *
         static_cast<double>(packed_bytes() / sizeof(float)) * 2;
}

size_t ImageConv::packed_bytes() const {
  return static_cast<size_t>(axes_[0].taps * axes_[1].taps * axes_[2].taps *
                             channels_ * features_) *
         sizeof(float);
}

ShapeKey ImageConv::packed_key() const {
  ShapeKey key = {channels_, channel_weight_step_, features_, feature_step_};
  for (const ConvAxis& axis : axes_) {
    key.push_back(axis.taps);
    key.push_back(axis.weight_step);
  }
  return key;
}

void ImageConv::pack(const float* weight, float* packed) const {
  for (int64_t d = 0; d < axes_[0].taps; ++d)
    for (int64_t h = 0; h < axes_[1].taps; ++h)
      for (int64_t c = 0; c < channels_; ++c)
        for (int64_t w = 0; w < axes_[2].taps; ++w)
          for (int64_t f = 0; f < features_; ++f)
            *packed++ =
                weight[d * axes_[0].weight_step + h * axes_[1].weight_step +
                       w * axes_[2].weight_step + c * channel_weight_step_ +
                       f * feature_step_];
}

ImageRow ImageConv::row_at(const Data& data, int64_t index) const {
  ImageRow row{conv_row(axes_, data.input, image_step_, index)};
  row.weight = data.packed;
  row.bias = data.bias;
  row.output = data.output + index * row.places * features_;
  row.channels = channels_;
  row.channel_step = channel_step_;
  row.features = features_;
  row.whole = whole_;
  row.work = data.work.at(index * row.places);
  return row;
}

void ImageConv::run(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < end; ++i) image_row(row_at(data, i), data.level);
}

}  // namespace fxjit::kernels
