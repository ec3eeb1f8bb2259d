// A convolution as numbers: what decides which primitives compute it, and how
// it is cut into independent slices.
#pragma once

#include <optional>
#include <vector>

#include "kernels/shape_cache.h"
#include "src/ops/eager/convolution.h"

namespace fxjit::kernels::onednn {

// Input [N, C, ...], weight as torch has it ([C_out, C / groups, ...],
// transposed [C, C_out / groups, ...]), contiguous output. Strides in elements.
struct ConvShape {
  DType dtype = DType::f32;  // Of everything.
  bool transposed = false;
  bool bias = false;
  int64_t groups = 1;
  Dims input, input_strides;
  Dims weight, weight_strides;
  Dims output, output_strides;
  Dims stride, dilation;
  Dims pad_before, pad_after;  // Transposed: pad_after less output padding.

  int spatial() const { return input.size() - 2; }
  int64_t input_channels() const { return input[1]; }
  int64_t output_channels() const { return output[1]; }
  bool depthwise() const {
    return groups > 1 && groups == input[1] && groups == output[1];
  }
  // Whether the output's memory is [N, ..., C] and no other order.
  bool gives_channels_last() const;
  double flops() const;
  ShapeKey key() const;
};

// Places of a plane of [N, C, ...] where planes are runs of memory; else 0.
int64_t run_of_places(const Dims& sizes, const Dims& strides);

// Nothing when oneDNN cannot read the operands: overlapping strides, other
// element types, empty dims. `input` and `weight` may be meta.
std::optional<ConvShape> conv_shape(const ops::ConvParams& params,
                                    const Tensor& input, const Tensor& weight,
                                    bool bias);

// Makes the output's memory [N, ..., C].
void put_channels_last(ConvShape& shape);

// A part of a convolution that is one itself. Offsets in elements.
struct ConvSlice {
  ConvShape shape;
  int64_t input = 0, weight = 0, bias = 0, output = 0;
};

// Cuts for `threads` threads: by images, then by channels or rows of one image,
// whichever repeats less work. A single slice where work is small.
// At least `least` where the image has as many rows. Outputs with channels last
// are cut into runs of memory only.
std::vector<ConvSlice> cut_conv(const ConvShape& shape, int threads,
                                int64_t least = 1);

}  // namespace fxjit::kernels::onednn
