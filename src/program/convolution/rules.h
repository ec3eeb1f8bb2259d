// Whether the loops of kernels/convolution compute a convolution whose result
// has channels innermost; else it is a primitive of the library. Tensors may be
// meta.
#pragma once

#include "fxjit/tensor.h"
#include "src/ops/eager/convolution.h"

namespace fxjit::program {

// The fewest features that fill the lanes of a vector.
inline constexpr int64_t kLeastImageFeatures = 8;
// The image has few channels, and the work is not the library's strength.
bool is_image_convolution(const ops::ConvParams& params, const Tensor& input,
                          const Tensor& weight);

}  // namespace fxjit::program
