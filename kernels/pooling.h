// Max and average pooling in plain C++, vectorised for the machine's level: it
// keeps torch's rules for NaN, infinities, ceil_mode and padding, which
// oneDNN's does not, and needs no generated code. For the interpreter and for
// compiled programs.
#pragma once

#include "src/ops/pool_kernel.h"

namespace fxjit::kernels {

class Pooling {
 public:
  // `input` may be meta; spatial dims of any strides. Floating types only.
  Pooling(const ops::PoolParams& params, const Tensor& input);

  static bool supports(const ops::PoolParams& params, const Tensor& input);

  // One image's one channel each; results are contiguous.
  int64_t planes() const { return images_ * channels_; }
  size_t scratch_bytes() const;
  double elements_per_plane() const;

  // Computes planes [begin, end).
  void run(const void* input, void* output, std::byte* scratch, int64_t begin,
           int64_t end) const;

  // One spatial dim; missing dims have size 1.
  struct Axis {
    int64_t size = 1, places = 1;
    int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;
    int64_t input_stride = 0;

    // Elements that the windows reach over, padding included.
    int64_t reach() const {
      return (places - 1) * stride + (kernel - 1) * dilation + 1;
    }
  };

 private:
  int64_t plane_elements() const;
  int64_t output_elements() const;
  const float* load(const std::byte* plane, float* scratch) const;

  DType dtype_;
  bool average_, count_pad_;
  int64_t divisor_;
  Axis axes_[3];
  int64_t images_, channels_, image_stride_, channel_stride_;
  bool in_place_;  // Planes are read as they lie.
};

// Hook for ops::set_pool_kernel.
bool eager_pool(const ops::PoolParams& params, const Tensor& input,
                const Tensor& out);

}  // namespace fxjit::kernels
