// Depthwise convolutions of f32 images with channels innermost, in plain C++
// vectors: no generated code, no copies. Vectors hold channels of one place,
// sums of several places stay in registers, and the elementwise work that
// follows is done before they are stored.
#pragma once

#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

class Depthwise : public RowConv {
 public:
  static constexpr weights::Reader kReader = weights::Reader::depthwise;
  // For convolutions that program::is_depthwise_last() tells.
  using RowConv::RowConv;

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;
};

}  // namespace fxjit::kernels
