// Layers over lines [N, C, L], and those that resize, pad or fold.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Pooling over the last dim. Sizes are one int; a stride of none is the kernel
// size.
class MaxPool1d : public Layer<MaxPool1d> {
 public:
  explicit MaxPool1d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding, dilation;
  const bool ceil_mode;
};

class AdaptiveAvgPool1d : public Layer<AdaptiveAvgPool1d> {
 public:
  explicit AdaptiveAvgPool1d(Value output_size);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value output_size;
};

// To `size`, or by `scale_factor`; see functional::interpolate.
class Upsample : public Layer<Upsample> {
 public:
  explicit Upsample(Value size = None, Value scale_factor = None,
                    std::string mode = "nearest", Value align_corners = None);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value size, scale_factor;
  const std::string mode;
  const Value align_corners;
};

// The dim `dim` as several of `unflattened_size`, one of which may be -1.
class Unflatten : public Layer<Unflatten> {
 public:
  Unflatten(int64_t dim, const Dims& unflattened_size);
  Value forward(Value input);
  std::string extra_repr() const override;

  const int64_t dim;
  const Dims unflattened_size;
};

}  // namespace fxjit::nn
