// Elementwise work on sums that a routine has just made, channels innermost.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"
#include "src/ops/eager/post_ops.h"

namespace fxjit::kernels {

struct PostWork {
  static constexpr int kMostExtras = 4;

  const ops::PostOp* ops = nullptr;
  int64_t count = 0;
  // The extra tensors' elements for the first place's first channel, and their
  // steps from place to place: 0 for one element for each channel.
  const float* extras[kMostExtras] = {};
  int64_t steps[kMostExtras] = {};

  // The same from another element on.
  PostWork at(int64_t place, int64_t channel = 0) const {
    PostWork moved = *this;
    for (int i = 0; i < kMostExtras; ++i)
      if (extras[i]) moved.extras[i] += place * steps[i] + channel;
    return moved;
  }
};

// In place on [places, channels]. Levels beyond the machine's crash.
void run_post_work(const PostWork& work, float* data, int64_t places,
                   int64_t channels, CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
