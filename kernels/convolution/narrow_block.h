// Loops of depthwise convolutions whose places have few channels: a row of
// places with channels innermost is one line of floats, and lanes are pairs of
// place and channel.
#pragma once

#include <cstdint>

#include "kernels/convolution/narrow_lanes.h"
#include "kernels/convolution/post_work.h"
#include "src/program/convolution/rules.h"

namespace fxjit::kernels {

// Floats that hold every vector of a repeated row of channels, at any level:
// whole lines of a cache, and a number that compilers know.
inline constexpr int64_t kNarrowPattern = 32;
static_assert(kNarrowPattern >=
              program::kMostNarrowChannels - 1 + NarrowLanes::kMostLanes);

// Some rows of the output, with steps in floats; taps outside of the image are
// zero. What depends on the channel alone (weights, bias, extra tensors of one
// element for each channel) is a pattern: repeated over kNarrowPattern floats,
// so that a vector of it can start with any channel.
struct NarrowBlock {
  const float* input;   // The image.
  int64_t lines, line;  // Its rows, and floats in each.
  int64_t row_step;     // From row to row.
  int64_t top, first;   // The row and float of the first output's tap 0.
  int64_t column;       // From one tap of the width to the next.
  int64_t across;       // The width's stride in places, 1 or 2.
  int64_t kernel[2];
  int64_t stride, dilation;  // Along the height, in rows.
  const EveryNarrowLanes* lanes;
  const float* weight;  // A pattern for each tap.
  const float* bias;    // A pattern, or null.
  int64_t channels;
  int64_t rows, count;  // Rows of the output, and floats in each.
  int64_t whole[2];     // [0] up to [1] see all columns of taps.
  float* output;
  int64_t output_step;  // From row to row.
  PostWork work;        // At the output's first element.
};

// Levels beyond the machine's crash.
void narrow_block(const NarrowBlock& block, CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
