// Depthwise convolutions of f32 images with few channels, channels innermost:
// the loops of narrow_block.h on the image itself where windows lie inside it,
// at its ends on a copy with the padding written out, which stays in the
// first-level cache.
#pragma once

#include "kernels/convolution/depthwise.h"
#include "kernels/convolution/narrow_block.h"

namespace fxjit::kernels {

class NarrowDepthwise : public Depthwise {
 public:
  static constexpr weights::Reader kReader = weights::Reader::narrow_depthwise;
  // For convolutions that fits() tells; tensors may be meta.
  NarrowDepthwise(const ops::ConvParams& params, const Tensor& input,
                  const Tensor& weight, CpuLevel level = host_cpu_level());

  // Whether a depthwise convolution (program::is_depthwise_last) has fewer
  // channels than a vector has lanes, and windows that the copy has room for.
  static bool fits(const ops::ConvParams& params, const Tensor& input,
                   const Tensor& weight, CpuLevel level = host_cpu_level());

  struct Data : RowConv::Data {  // The level is not read.
    float* scratch;              // scratch_bytes(), the calling thread's own.
  };

  static size_t scratch_bytes();
  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as patterns (NarrowBlock), then as Depthwise has them, then one
  // number that is zero unless all of them are finite.
  size_t packed_bytes() const;
  void pack(const float* weight, float* packed) const;

 private:
  struct Part;

  void run_band(const Part& band) const;
  void run_padded(Part part, int64_t last) const;
  void run_part(const Part& part, const float* corner, int64_t row_step) const;
  void fill(const Part& part, float* buffer) const;
  int64_t line_floats(int64_t places) const;
  int64_t lines(int64_t rows) const;
  int64_t most_places(int64_t rows) const;
  bool is_inside(int64_t row) const;

  const ConvAxis& height() const { return axes_[1]; }
  const ConvAxis& width() const { return axes_[2]; }

  CpuLevel level_;
  int64_t lanes_, pattern_;
  EveryNarrowLanes every_lanes_;
};

}  // namespace fxjit::kernels
