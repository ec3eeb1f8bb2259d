// Convolution of images of few channels, as the first of a net: vectors hold
// features, each element of the image is multiplied with all of them, and the
// sums of several places stay in registers until the work behind is done.
#pragma once

#include <cstdint>

#include "kernels/convolution/conv_row.h"

namespace fxjit::kernels {

// Weights are [depth, height, channels, width, features].
struct ImageRow : ConvRow {
  int64_t channels = 0;
  int64_t channel_step = 0;
  int64_t features = 0;
};

// For program::kLeastImageFeatures and more, which fill a vector at every
// level. Some places and features may be computed twice.
void image_row(const ImageRow& row, CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
