// Pools channels that lie side by side, so that a vector holds one place of
// several channels and windows of any shape need no special cases.
#pragma once

#include <cstdint>

namespace fxjit::kernels {

// The elements of one window along one dim that lie inside the plane.
struct PoolWindow {
  int64_t first = 0;  // Position of the first.
  int64_t count = 0;
  float divisor = 1;  // Averages: this dim's factor of the divisor.
};

struct PoolBlock {
  static constexpr int64_t kChannels = 16;

  bool average;
  // Per dim (depth, height, width): the windows to compute, and how far apart
  // the elements of a window are in `input`, in floats.
  const PoolWindow* windows[3];
  int64_t window_count[3];
  int64_t tap_step[3];
  int64_t position_step[3];  // From one position of the dim to the next.
  const float* input;        // The channels at position 0 of every dim.
  float* output;             // Where the first window's result goes.
};

void pool_block(const PoolBlock& block);

}  // namespace fxjit::kernels
