// Max and average pooling of f32 images with channels innermost, read and
// written as they lie: torch's rules for NaN, ceil_mode and padding, as
// pooling.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pooling/pooling.h"

namespace fxjit::kernels {

class PoolingLast {
 public:
  // `input` [N, C, ...] with channels innermost; may be meta.
  PoolingLast(const ops::PoolParams& params, const Tensor& input);

  // Rows of the result, [N, ..., C], that can be computed side by side.
  int64_t parts() const {
    return images_ * axes_[0].places() * axes_[1].places();
  }
  double elements_per_part() const;
  static size_t scratch_bytes() { return 0; }

  // Computes parts [begin, end).
  void run(const void* input, void* output, std::byte* scratch, int64_t begin,
           int64_t end) const;

 private:
  bool average_;
  PoolAxis axes_[3];
  int64_t images_, channels_, image_stride_;
};

}  // namespace fxjit::kernels
