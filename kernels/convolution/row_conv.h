// Convolutions whose loops walk rows of places, results with channels
// innermost: what depthwise ones, those in groups and those of images have in
// common.
#pragma once

#include <array>

#include "fxjit/tensor.h"
#include "kernels/convolution/conv_row.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/convolution.h"
#include "src/weights/store.h"

namespace fxjit::kernels {

class RowConv {
 public:
  struct Data {
    const float* input;
    const float* packed;  // By pack().
    const float* bias;    // Or null.
    float* output;        // [N, ..., channels]
    PostWork work;        // At the output's first element.
    CpuLevel level = host_cpu_level();
  };

  // Of all images.
  int64_t rows() const { return images_ * axes_[0].places * axes_[1].places; }
  int64_t taps() const;
  // Each channel of the output is a sum over all taps of `inputs` channels.
  double flops() const;

 protected:
  // Tensors may be meta.
  RowConv(const ops::ConvParams& params, const Tensor& input,
          const Tensor& weight);

  ConvRow row_at(const Data& data, int64_t index) const;
  // Sizes and steps of the weights' windows, as a part of packed_key().
  void add_windows(ShapeKey& key) const;

  int64_t images_, image_step_;
  int64_t channels_, inputs_;  // Of the output; of those that each one sums.
  std::array<ConvAxis, 3> axes_;
  TapRange whole_;  // Places of the width that see all taps.
};

}  // namespace fxjit::kernels
