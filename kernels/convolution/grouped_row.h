// A row of a convolution in groups of few channels: lanes of a vector are the
// channels of several groups, or of several places where one has few. Nothing
// moves between lanes while sums are made: for n inputs of a group there are n
// sums, of which sum t has in each lane what that lane's input gives to the
// output t channels further, and which are turned and added up at the end.
#pragma once

#include <cstdint>

#include "kernels/convolution/conv_row.h"

namespace fxjit::kernels {

// What the lanes of a vector are; lanes that hold nothing are last.
struct GroupedLanes {
  static constexpr int kMost = 16;

  // `count` lanes hold `channels` channels of count / channels places, in
  // groups of `group` channels.
  GroupedLanes(int64_t count, int64_t channels, int64_t group);

  int32_t count;
  // For each lane its place after the vector's first one, negative where it
  // holds nothing, and its channel.
  int32_t place[kMost], channel[kMost];
  // The lane whose sum t is of this lane's channel.
  int32_t turned[kMost][kMost];
};

// Windows of three taps of the width, one position apart, and of any height;
// at each end at most one tap lies outside of the image. Input, bias, output
// and work start at the vector's first channel. Weights are
// [depth, height, t, 3, lanes of the level].
struct GroupedRow : ConvRow {
  const GroupedLanes* lanes = nullptr;
  int64_t inputs = 0;       // Channels of a group.
  int64_t size = 0;         // Places of the input's row.
  int64_t pad = 0;          // Positions before them, 0 or 1.
  int64_t stride = 1;       // 1 or 2.
  int64_t span = 1;         // Places of a vector: 1, or 2 of stride 1.
  int64_t output_step = 0;  // From place to place.
};

// All places of a row. Levels are at least avx2.
void grouped_row(const GroupedRow& row, CpuLevel level);

}  // namespace fxjit::kernels
