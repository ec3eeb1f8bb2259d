// Loops of depthwise convolutions whose places have fewer channels than a
// vector has lanes: a row of places with channels innermost is one line of
// floats, and lanes are pairs of place and channel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/convolution/post_work.h"

namespace fxjit::kernels {

// Where the lanes of a vector of (place, channel) pairs lie in a line of which
// every second place is read: they are picked out of two or three vectors that
// are read: the first one's at the first lane, the others `apart` floats
// behind. They reach no further than the last lane.
struct NarrowSpread {
  static constexpr int kMostLanes = 16;

  int loads;
  int64_t apart[2];
  // Into the first two vectors; into what these gave and the third.
  int32_t index[2][kMostLanes];
};

// For each channel that a vector can start with, and each number of lanes.
class NarrowSpreads {
 public:
  explicit NarrowSpreads(int64_t channels);

  // 4, 8 or 16 lanes.
  const NarrowSpread& at(int64_t channel, int64_t lanes) const {
    return of_[lanes == 4   ? 0
               : lanes == 8 ? 1
                            : 2][static_cast<size_t>(channel)];
  }

 private:
  std::array<std::vector<NarrowSpread>, 3> of_;
};

// Some rows of some places, all of whose taps can be read; steps are in floats.
// What depends on the channel alone (weights, bias, extra tensors of one
// element for each channel) is repeated over narrow_pattern() floats, so that a
// vector of it can start with any channel.
struct NarrowBlock {
  const float* input;  // What tap 0 of the first place reads.
  int64_t row_step;    // From one row of the input to the next.
  int64_t column;      // From one tap of the width to the next.
  int64_t across;      // The width's stride in places, 1 or 2.
  int64_t kernel[2];
  int64_t stride, dilation;      // Along the height, in rows.
  const NarrowSpreads* spreads;  // Needed where `across` is 2.
  const float* weight;           // [taps, pattern]
  int64_t pattern;
  const float* bias;  // A pattern, or null.
  int64_t channels;
  int64_t rows, count;  // Rows of the output, and floats in each.
  float* output;
  int64_t output_step;  // From row to row.
  PostWork work;        // At the output's first element.
};

// Floats that hold every vector of a repeated row of channels, at any level.
constexpr int64_t narrow_pattern(int64_t channels) {
  constexpr int64_t kMostLanes = 16;
  return channels + kMostLanes;
}

// Levels beyond the machine's crash.
void narrow_block(const NarrowBlock& block, CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
