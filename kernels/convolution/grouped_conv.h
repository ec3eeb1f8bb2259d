// Convolutions of f32 images in groups of few channels, channels innermost, in
// plain C++ vectors: no copies, the elementwise work behind done while sums are
// in registers.
#pragma once

#include "kernels/convolution/grouped_row.h"
#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

class GroupedConv : public RowConv {
 public:
  static constexpr weights::Reader kReader =
      weights::Reader::grouped_convolution;
  // For convolutions that fits() tells; tensors may be meta.
  GroupedConv(const ops::ConvParams& params, const Tensor& input,
              const Tensor& weight, CpuLevel level = host_cpu_level());

  // Whether the level has loops for a convolution that
  // program::is_grouped_last() tells.
  static bool fits(const Tensor& weight, CpuLevel level = host_cpu_level());

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights of each vector of channels, as GroupedRow has them.
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  void run_band(const Data& data, int64_t begin, int64_t end) const;
  void pack_lanes(const float* weight, int64_t turn, float* packed) const;
  GroupedRow vector_at(const Data& data, int64_t index, int64_t vector) const;
  int64_t first_channel(int64_t vector) const;
  int64_t vector_floats() const;  // Of packed weights.

  int64_t output_weight_, input_weight_;  // Steps from channel to channel.
  int64_t lanes_;                         // Of the level's vectors.
  int64_t vector_channels_;               // Those of whole groups.
  int64_t vectors_;                       // For all channels of a place.
  int64_t span_;                          // Places of a vector.
  GroupedLanes used_;
};

}  // namespace fxjit::kernels
