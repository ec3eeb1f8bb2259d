// The elementwise work that follows a convolution, applied to sums that a
// routine has just made, with channels innermost.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"
#include "src/ops/eager/post_ops.h"

namespace fxjit::kernels {

struct PostWork {
  static constexpr int kMostExtras = 4;

  const ops::PostOp* ops = nullptr;
  int64_t count = 0;
  // For each extra tensor, its element for the first place's first channel, and
  // the distance in floats from place to place: 0 for a tensor with one element
  // for each channel.
  const float* extras[kMostExtras] = {};
  int64_t steps[kMostExtras] = {};

  // The same work `place` places and `channel` channels further on.
  PostWork at(int64_t place, int64_t channel = 0) const {
    PostWork moved = *this;
    for (int i = 0; i < kMostExtras; ++i)
      if (extras[i]) moved.extras[i] += place * steps[i] + channel;
    return moved;
  }
};

// Applies the work in place to data [places, channels]. The machine must have
// the CPU level, or the call crashes.
void run_post_work(const PostWork& work, float* data, int64_t places,
                   int64_t channels, CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
