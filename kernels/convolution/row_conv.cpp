#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

RowConv::RowConv(const ops::ConvParams& params, const Tensor& input,
                 const Tensor& weight)
    : images_(params.output[0]),
      image_step_(params.batched ? input.strides()[0] : 0),
      channels_(params.output[1]),
      inputs_(weight.sizes()[1]),
      axes_(conv_axes(params, input, weight)),
      whole_(axes_[2].whole_places()) {}

int64_t RowConv::taps() const {
  return axes_[0].taps * axes_[1].taps * axes_[2].taps;
}

double RowConv::flops() const {
  return 2.0 * static_cast<double>(rows() * axes_[2].places * channels_) *
         static_cast<double>(taps() * inputs_);
}

ConvRow RowConv::row_at(const Data& data, int64_t index) const {
  ConvRow row = conv_row(axes_, data.input, image_step_, index);
  row.weight = data.packed;
  row.bias = data.bias;
  row.output = data.output + index * row.places * channels_;
  row.whole = whole_;
  row.work = data.work.at(index * row.places);
  return row;
}

void RowConv::add_windows(ShapeKey& key) const {
  for (const ConvAxis& axis : axes_) {
    key.push_back(axis.taps);
    key.push_back(axis.weight_step);
  }
}

}  // namespace fxjit::kernels
