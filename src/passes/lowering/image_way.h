// How a convolution or pooling is computed, and why so: the one place that
// decides between windows, products, transforms, loops of C++ and primitives.
// Lowerings follow it, steps carry it, reports print it.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/ops/eager/convolution.h"
#include "src/passes/lowering/graph_builder.h"
#include "src/passes/lowering/image_way_text.h"

namespace fxjit::passes {

// The way of a convolution of f32. `args` are input with its batch, weight and
// bias or none; the result has elements.
ImageWay conv_way(GraphBuilder& builder, const ops::ConvParams& params,
                  const ValueList& args);
// The way of pooling by windows of so many taps of an input with its batch.
ImageWay pool_way(const GraphBuilder& builder, const Tensor& input,
                  const Dims& output, const Dims& taps, const Dims& stride);

// Taps of a convolution and of pooling with channels innermost: the code has
// all of them one after the other.
inline constexpr int64_t kMostProductTaps = 121, kMostElementTaps = 225;
// The fewest features that fill the lanes of a vector.
inline constexpr int64_t kLeastImageFeatures = 8;
// Whether the loops of kernels/convolution compute a convolution whose result
// has channels innermost: the image has few channels, and the work is not the
// library's strength. Tensors may be meta.
bool is_image_convolution(const ops::ConvParams& params, const Tensor& input,
                          const Tensor& weight);
// Whether the taps along a row of [N, C, ...] are one run of memory for each
// place.
bool are_runs(const ops::ConvParams& params, const Tensor& input,
              const Tensor& weight);
// The sizes of the window.
Dims taps_of(const ops::ConvParams& params, const Tensor& weight);

}  // namespace fxjit::passes
