// Depthwise convolutions of f32 images with channels innermost, in plain C++
// vectors: no generated code, no copies, the elementwise work behind it done
// while sums are in registers.
#pragma once

#include <array>

#include "fxjit/tensor.h"
#include "kernels/convolution/depthwise_row.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/convolution.h"
#include "src/weights/store.h"

namespace fxjit::kernels {

class Depthwise {
 public:
  static constexpr weights::Reader kReader = weights::Reader::depthwise;
  // For convolutions that program::is_depthwise_last() tells; tensors may be
  // meta.
  Depthwise(const ops::ConvParams& params, const Tensor& input,
            const Tensor& weight);

  struct Data {
    const float* input;
    const float* packed;  // By pack().
    const float* bias;    // Or null.
    float* output;        // [N, ..., C]
    PostWork work;        // At the output's first element.
    CpuLevel level = host_cpu_level();
  };

  int64_t rows() const { return images_ * axes_[0].places * axes_[1].places; }
  int64_t taps() const;
  double flops() const;
  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as [taps, channels].
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  void run_band(const Data& data, int64_t begin, int64_t end) const;
  DepthwiseRow row_at(const Data& data, int64_t index) const;

  int64_t images_, channels_, image_step_;
  std::array<ConvAxis, 3> axes_;
  TapRange whole_;           // Places of the width that see all taps.
  int64_t weight_step_ = 0;  // From channel to channel.
};

}  // namespace fxjit::kernels
