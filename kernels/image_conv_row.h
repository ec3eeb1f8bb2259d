// Convolution of images of few channels, as the first of a net: vectors hold
// features, each element of the image is multiplied with all of them, and the
// sums of several places stay in registers until the work behind is done.
#pragma once

#include <cstdint>

#include "kernels/conv_axis.h"
#include "kernels/post_work.h"

namespace fxjit::kernels {

// A row of places. Steps are in floats; dims are depth, height, width.
struct ImageRow {
  const float* input;   // Where tap 0 of the first place lies or would lie.
  const float* weight;  // [depth, height, channels, width, features]
  const float* bias;    // [features] or null.
  float* output;        // [places, features]
  int64_t channels;
  int64_t channel_step;
  int64_t features;
  int64_t kernel[3];
  int64_t tap_step[3];
  TapRange taps[2];         // Of depth and height: the same for the whole row.
  const TapRange* columns;  // Of the width, for each place.
  int64_t places;
  int64_t place_step;  // Of the input, from one place to the next.
  TapRange whole;      // Places that see all taps of the width.
  PostWork work;       // At the first place's first feature.
};

// Fewest features that fill a vector of some width at every level.
inline constexpr int64_t kLeastImageFeatures = 8;

// Some places and features may be computed twice.
void image_row(const ImageRow& row, CpuLevel level = host_cpu_level());

}  // namespace fxjit::kernels
