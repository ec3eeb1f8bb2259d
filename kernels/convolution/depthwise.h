// Depthwise convolutions of f32 images with channels innermost, in plain C++
// vectors: no generated code, no copies, the elementwise work behind it done
// while sums are in registers.
#pragma once

#include "kernels/convolution/depthwise_row.h"
#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

class Depthwise : public RowConv {
 public:
  static constexpr weights::Reader kReader = weights::Reader::depthwise;
  // For convolutions that program::is_depthwise_last() tells; tensors may be
  // meta.
  Depthwise(const ops::ConvParams& params, const Tensor& input,
            const Tensor& weight);

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as [taps, channels].
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  void run_band(const Data& data, int64_t begin, int64_t end) const;

  int64_t weight_step_;  // From channel to channel.
};

}  // namespace fxjit::kernels
