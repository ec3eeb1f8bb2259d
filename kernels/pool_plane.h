// Pools one plane of floats, at each CPU level: rows of a window are combined
// first, then columns, so that all inner loops run along contiguous elements.
#pragma once

#include "kernels/pooling.h"

namespace fxjit::kernels {

struct PlaneJob {
  const Pooling::Axis* axes;  // Depth, height, width.
  bool average;
  // Averages: multiplies window sizes per dim, or a fixed divisor (0: none).
  bool count_pad;
  int64_t divisor;
  const float* input;  // Contiguous.
  float* output;
  float* row;     // axes[2].reach() floats.
  float* counts;  // axes[2].places floats.
};

void pool_plane(const PlaneJob& job);

}  // namespace fxjit::kernels
