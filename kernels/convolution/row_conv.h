// What the convolutions of this folder have in common whose loops walk along
// rows of places, with channels innermost in the result.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/tensor.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/convolution.h"
#include "src/program/convolution/axis.h"
#include "src/weights/store.h"

namespace fxjit::kernels {

using program::ConvAxis;
using program::TapRange;

// A row of places whose sums stay in registers. Steps are in floats; dims are
// depth, height, width.
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
};

class RowConv {
 public:
  // Tensors may be meta.
  RowConv(const ops::ConvParams& params, const Tensor& input,
          const Tensor& weight);

  struct Data {
    const float* input;
    const float* packed;  // By pack().
    const float* bias;    // Or null.
    float* output;        // [N, ..., channels]
    CpuLevel level = host_cpu_level();
  };
  // The number of rows of the output, in all images together.
  int64_t rows() const { return images_ * axes_[0].places * axes_[1].places; }
  int64_t row_places() const { return axes_[2].places; }
  int64_t taps() const;
  // Floating-point operations of the whole convolution: each channel of the
  // output is a sum over all taps and `inputs` channels.
  double flops() const;

  // Packs weights as [depth, height, inputs, width, channels].
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 protected:
  // Row number `index`, counted through all images. The result refers to the
  // axes of this object.
  ConvRow row_at(const Data& data, int64_t index) const;

  int64_t images_, image_step_;
  int64_t channels_, inputs_;  // Of the output; of those that each one sums.
  int64_t output_weight_, input_weight_;  // Steps from channel to channel.
  // Depth, height and width; what a convolution lacks has one tap.
  std::array<ConvAxis, 3> axes_;
  TapRange whole_;  // Places of the width that see all taps.
};

}  // namespace fxjit::kernels
