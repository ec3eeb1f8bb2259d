// The dims of convolutions whose loops walk rows of places.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fxjit/tensor.h"
#include "src/ops/eager/convolution.h"

namespace fxjit::program {

// Taps [first, last) of a window lie inside the image, the rest is padding.
struct TapRange {
  int64_t first = 0, last = 0;
};

// One spatial dim.
struct ConvAxis {
  int64_t size = 1, places = 1, taps = 1;
  int64_t step = 0;         // To the next input, in floats.
  int64_t weight_step = 0;  // In floats.
  int64_t stride = 1, dilation = 1, pad = 0;
  std::vector<TapRange> inside{{0, 1}};  // For each place.

  // Places that see all taps: [first, last).
  TapRange whole_places() const;
};

// Depth, height and width; what a convolution lacks has one tap. Tensors may be
// meta.
std::array<ConvAxis, 3> conv_axes(const ops::ConvParams& params,
                                  const Tensor& input, const Tensor& weight);

}  // namespace fxjit::program
