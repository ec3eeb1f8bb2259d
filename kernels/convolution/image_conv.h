// Convolutions of f32 images of few channels in any memory order, results with
// features innermost, in plain C++ vectors: no copy into another layout, the
// elementwise work behind done while sums are in registers.
#pragma once

#include "kernels/convolution/image_conv_row.h"
#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

class ImageConv : public RowConv {
 public:
  static constexpr weights::Reader kReader = weights::Reader::image_convolution;
  // For convolutions that program::is_image_convolution() tells; tensors may be
  // meta.
  ImageConv(const ops::ConvParams& params, const Tensor& input,
            const Tensor& weight);

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as [depth, height, channels, width, features].
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  // From channel to channel, of the image and of the weights, and from feature
  // to feature.
  int64_t channel_step_, channel_weight_step_, feature_step_;
};

}  // namespace fxjit::kernels
