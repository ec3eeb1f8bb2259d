// Pooling over the spatial dims of [N, C, H, W] or [C, H, W]. Sizes are one int
// for both dims or a tuple of two; a stride of none is the kernel size.
#pragma once

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

class MaxPool2d : public Layer<MaxPool2d> {
 public:
  explicit MaxPool2d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding, dilation;
  const bool ceil_mode;
};

class AvgPool2d : public Layer<AvgPool2d> {
 public:
  explicit AvgPool2d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true,
                     Value divisor_override = None);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding;
  const bool ceil_mode, count_include_pad;
  const Value divisor_override;
};

// A tuple entry of none keeps the input's size.
class AdaptiveAvgPool2d : public Layer<AdaptiveAvgPool2d> {
 public:
  explicit AdaptiveAvgPool2d(Value output_size);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value output_size;
};

}  // namespace fxjit::nn
