// Pools channels that lie side by side in memory. A vector holds several
// channels of one place, so that windows of any shape need no special cases.
#pragma once

#include <cstdint>

namespace fxjit::kernels {

// The elements of one window along one dim that lie inside of the plane.
struct PoolWindow {
  int64_t first = 0;  // Position of the first.
  int64_t count = 0;
  float divisor = 1;  // Averages: this dim's factor of the divisor.
};

struct PoolBlock {
  static constexpr int64_t kChannels = 16;

  bool average;
  // For depth, height and width: the windows to compute, and the distance
  // between neighbouring elements of a window in `input`, in floats.
  const PoolWindow* windows[3];
  int64_t window_count[3];
  int64_t tap_step[3];
  int64_t position_step[3];  // From one position of the dim to the next.
  const float* input;        // The channels at position 0 of every dim.
  float* output;             // Where the first window's result goes.
};

void pool_block(const PoolBlock& block);

}  // namespace fxjit::kernels
