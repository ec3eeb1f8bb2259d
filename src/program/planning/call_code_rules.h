// Which code computes a call: decided from shapes and types alone, so that
// plans depend on no more of a machine than `Machine` says.
#pragma once

#include "fxjit/op.h"
#include "src/ops/eager/convolution.h"
#include "src/ops/eager/pooling.h"
#include "src/program/steps/call_code.h"

namespace fxjit::program {

// `call` and `results` hold meta tensors. Where a library turns out to have no
// fast code for the shapes, the eager function computes the call after all.
CallCode call_code_of(const ops::OpCall& call, const ValueList& results);

// The rules for single routines; tensors may be meta.

// Pooling of floating types up to f32, without indices.
bool is_float_pool(const ops::PoolParams& params, DType input);
// There is one filter for each channel, and channels are innermost.
bool is_depthwise_last(const ops::ConvParams& params, const Tensor& input,
                       const Tensor& weight);
// Groups have few channels, and channels are innermost.
bool is_grouped_last(const ops::ConvParams& params, const Tensor& input,
                     const Tensor& weight);
// The fewest features that fill the lanes of a vector.
inline constexpr int64_t kLeastImageFeatures = 8;
// The image has few channels, and the work is not the library's strength.
bool is_image_convolution(const ops::ConvParams& params, const Tensor& input,
                          const Tensor& weight);

}  // namespace fxjit::program
