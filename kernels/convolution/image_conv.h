// Convolutions of f32 images of few channels in any memory order, results with
// features innermost, in plain C++ vectors: no copy into another layout, the
// elementwise work behind done while sums are in registers.
#pragma once

#include <array>

#include "fxjit/tensor.h"
#include "kernels/convolution/image_conv_row.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/convolution.h"
#include "src/weights/store.h"

namespace fxjit::kernels {

class ImageConv {
 public:
  static constexpr weights::Reader kReader = weights::Reader::image_convolution;
  // For convolutions that program::is_image_convolution() tells; tensors may be
  // meta.
  ImageConv(const ops::ConvParams& params, const Tensor& input,
            const Tensor& weight);

  struct Data {
    const float* input;
    const float* packed;  // By pack().
    const float* bias;    // Or null.
    float* output;        // [N, ..., features]
    PostWork work;        // At the output's first element.
    CpuLevel level = host_cpu_level();
  };

  int64_t rows() const { return images_ * axes_[0].places * axes_[1].places; }
  double flops() const;
  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as [depth, height, channels, width, features].
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  ImageRow row_at(const Data& data, int64_t index) const;

  int64_t images_, image_step_;
  int64_t channels_, channel_step_, channel_weight_step_;
  int64_t features_, feature_step_;
  std::array<ConvAxis, 3> axes_;
  TapRange whole_;  // Places of the width that see all taps.
};

}  // namespace fxjit::kernels
