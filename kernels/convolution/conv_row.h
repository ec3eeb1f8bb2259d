// A row of places of a convolution whose sums stay in registers: what the loops
// over channels in lanes and over features in lanes have in common.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/convolution/conv_axis.h"
#include "kernels/convolution/post_work.h"

namespace fxjit::kernels {

// Steps are in floats; dims are depth, height, width.
struct ConvRow {
  const float* input;   // Where tap 0 of the first place lies or would lie.
  const float* weight;  // As packed.
  const float* bias;    // One for each channel of the output, or null.
  float* output;        // [places, channels of the output]
  int64_t kernel[3];
  int64_t tap_step[3];
  TapRange taps[2];         // Along depth and height, for the whole row.
  const TapRange* columns;  // Along the width, for each place.
  int64_t places;
  int64_t place_step;  // In the input, from one place to the next.
  TapRange whole;      // Places that see all taps of the width.
  PostWork work;       // At the first place's first channel.
};

// Row number `index` of the images at `input`, `image_step` floats apart: all
// but weight, bias, output and work. Refers to the axes.
ConvRow conv_row(const std::array<ConvAxis, 3>& axes, const float* input,
                 int64_t image_step, int64_t index);

}  // namespace fxjit::kernels
