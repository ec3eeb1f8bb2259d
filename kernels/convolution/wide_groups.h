// Convolutions of f32 images in groups of about as many channels as a vector
// has lanes, channels innermost, in plain C++ vectors. Lanes are the outputs of
// a group, and each input is spread over them. What a row of taps reads of a
// group is copied side by side first: where places lie a power of two apart,
// their lines would push each other out of the cache.
#pragma once

#include <cstdint>

#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

// Windows of three taps of the width, one position apart, and of any height;
// at each end at most one tap lies outside of the image. Input, bias, output
// and work start at the group's first channel. Weights are
// [depth, height, 3, channels, kLanes].
struct WideGroupRow : ConvRow {
  static constexpr int kLanes = 16;

  int64_t channels = 0;     // Of the group, kLanes at most.
  int64_t size = 0;         // Places of the input's row.
  int64_t pad = 0;          // Positions before them, 0 or 1.
  int64_t stride = 1;       // 1 or 2.
  int64_t output_step = 0;  // From place to place.
};

class WideGroups : public RowConv {
 public:
  static constexpr weights::Reader kReader =
      weights::Reader::grouped_convolution;
  // For convolutions that fits() tells; tensors may be meta.
  using RowConv::RowConv;

  // Whether these are the loops for a convolution that
  // program::is_grouped_last() tells.
  static bool fits(const Tensor& weight, CpuLevel level = host_cpu_level());

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights of each group, as WideGroupRow has them.
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  WideGroupRow group_at(const Data& data, int64_t index, int64_t group) const;
  int64_t group_floats() const;  // Of packed weights.
};

}  // namespace fxjit::kernels
