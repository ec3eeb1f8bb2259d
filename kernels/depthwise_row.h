// Depthwise convolution of images with channels innermost: vectors hold
// channels of one place, sums of several places stay in registers, and the
// elementwise work that follows is done before they are stored.
#pragma once

#include <cstdint>

#include "kernels/conv_axis.h"
#include "kernels/post_work.h"

namespace fxjit::kernels {

// A row of places. Steps are in floats; dims are depth, height, width.
struct DepthwiseRow {
  const float* input;   // Where tap 0 of the first place lies or would lie.
  const float* weight;  // [taps, channels]
  const float* bias;    // [channels] or null.
  float* output;        // [places, channels]
  int64_t channels;
  int64_t kernel[3];
  int64_t tap_step[3];
  TapRange taps[2];         // Of depth and height: the same for the whole row.
  const TapRange* columns;  // Of the width, for each place.
  int64_t places;
  int64_t place_step;  // Of the input, from one place to the next.
  // Places [whole_first, whole_last) see all taps of the width.
  int64_t whole_first, whole_last;
  PostWork work;  // At the first place's first channel.
};

// Channels [first, last) of a row. Few at a time keep the input of following
// rows in the first-level cache. Some before `first` may be computed again.
void depthwise_row(const DepthwiseRow& row, int64_t first, int64_t last,
                   CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
