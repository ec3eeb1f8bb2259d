// Which code computes a convolution whose result has channels innermost: loops
// over rows of places (kernels/convolution) or, as the last resort, a primitive
// of the library. Tensors may be meta.
#pragma once

#include "fxjit/cpu_level.h"
#include "fxjit/tensor.h"
#include "src/ops/eager/convolution.h"
#include "src/program/steps/call_code.h"

namespace fxjit::program {

CallCode last_convolution_code(const ops::ConvParams& params,
                               const Tensor& input, const Tensor& weight,
                               CpuLevel level);

// Groups have few channels, and channels are innermost.
bool is_grouped_last(const ops::ConvParams& params, const Tensor& input,
                     const Tensor& weight);
// One in groups turns the image into planes.
bool has_planes(const ops::ConvParams& params, const Tensor& input,
                const Tensor& weight, CpuLevel level);
// One in groups turns sums between the lanes of vectors.
inline constexpr int64_t kMostTurnedChannels = 8;  // Of a group.
bool has_turned_sums(const Tensor& weight, CpuLevel level);

// The fewest features that fill the lanes of a vector.
inline constexpr int64_t kLeastImageFeatures = 8;
// The image has few channels, and the work is not the library's strength.
bool is_image_convolution(const ops::ConvParams& params, const Tensor& input,
                          const Tensor& weight);

}  // namespace fxjit::program
