// Depthwise convolution of images with channels innermost: vectors hold
// channels of one place, sums of several places stay in registers, and the
// elementwise work that follows is done before they are stored.
#pragma once

#include <cstdint>

#include "kernels/convolution/conv_row.h"

namespace fxjit::kernels {

// Weights are [taps, channels].
struct DepthwiseRow : ConvRow {
  int64_t channels = 0;
};

// Channels [first, last) of a row. Few at a time keep the input of following
// rows in the first-level cache. Some before `first` may be computed again.
void depthwise_row(const DepthwiseRow& row, int64_t first, int64_t last,
                   CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
