// Depthwise convolutions of f32 images with few channels, channels innermost:
// the loops of narrow_block.h on the image itself.
#pragma once

#include "kernels/convolution/depthwise.h"
#include "kernels/convolution/narrow_block.h"

namespace fxjit::kernels {

class NarrowDepthwise : public Depthwise {
 public:
  static constexpr weights::Reader kReader = weights::Reader::narrow_depthwise;
  // For convolutions that program::is_narrow_depthwise() tells; tensors may be
  // meta.
  NarrowDepthwise(const ops::ConvParams& params, const Tensor& input,
                  const Tensor& weight, CpuLevel level = host_cpu_level());

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as patterns (NarrowBlock), then as Depthwise has them, then one
  // number that is zero unless all of them are finite.
  size_t packed_bytes() const;
  void pack(const float* weight, float* packed) const;

 private:
  struct Patterns;
  struct Rows {
    int64_t first, count;
  };

  void run_rows(const Data& data, const Patterns& patterns, int64_t image,
                Rows rows) const;

  CpuLevel level_;
  EveryNarrowLanes every_lanes_;
};

}  // namespace fxjit::kernels
