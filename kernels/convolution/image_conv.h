// Convolutions of f32 images of few channels in any memory order, such as the
// first one of a network, with features innermost in the result, in plain C++
// vectors. The image is not copied into another layout. Vectors hold features;
// each element of the image is multiplied with all of them. The sums of several
// places stay in registers until the work that follows is done.
#pragma once

#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

class ImageConv : public RowConv {
 public:
  static constexpr weights::Reader kReader = weights::Reader::image_convolution;
  // For the convolutions of which passes::is_image_convolution() is true.
  ImageConv(const ops::ConvParams& params, const Tensor& input,
            const Tensor& weight)
      : RowConv(params, input, weight), channel_step_(input.strides()[1]) {}

  // Computes rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

 private:
  int64_t channel_step_;  // From channel to channel of the image.
};

}  // namespace fxjit::kernels
