// Pooling over the last one, two or three dims of [N, C, ...] or [C, ...].
// Sizes are one int for all these dims or a tuple of one int per dim; a stride
// of none is the kernel size.
#pragma once

#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// What all max pools have.
class MaxPoolBase : public FunctionLayer {
 public:
  using FunctionLayer::FunctionLayer;

  const Value kernel_size = field("kernel_size"),
              stride = or_kernel(field("stride")), padding = field("padding"),
              dilation = field("dilation");
  const bool ceil_mode = field("ceil_mode");

 private:
  Value or_kernel(const Argument& stride) const;
};

template <typename T, Text name, Text function>
class MaxPool : public TorchLayer<T, name, function, "input", MaxPoolBase> {
 public:
  using MaxPool::TorchLayer::TorchLayer;
  explicit MaxPool(Value kernel_size, Value stride = None, Value padding = 0,
                   Value dilation = 1, bool ceil_mode = false)
      : MaxPool::TorchLayer(LayerArgs::of(
            {kernel_size, stride, padding, dilation, ceil_mode})) {}
};

struct MaxPool1d : MaxPool<MaxPool1d, "MaxPool1d", "F.max_pool1d"> {
  using MaxPool::MaxPool;
};
struct MaxPool2d : MaxPool<MaxPool2d, "MaxPool2d", "F.max_pool2d"> {
  using MaxPool::MaxPool;
};
struct MaxPool3d : MaxPool<MaxPool3d, "MaxPool3d", "F.max_pool3d"> {
  using MaxPool::MaxPool;
};

// What all average pools have.
class AvgPoolBase : public FunctionLayer {
 public:
  using FunctionLayer::FunctionLayer;

  const Value kernel_size = sizes(field("kernel_size")),
              stride = sizes(field("stride")),
              padding = sizes(field("padding"));
  const bool ceil_mode = field("ceil_mode", Shown::hidden);
  const bool count_include_pad = field("count_include_pad", Shown::hidden);

 private:
  // As the field is kept.
  Value sizes(const Argument& given) const;
};

// Its sizes are tuples of one int once made.
struct AvgPool1d : TorchLayer<AvgPool1d, "AvgPool1d", "torch.avg_pool1d",
                              "input", AvgPoolBase> {
  using TorchLayer::TorchLayer;
  explicit AvgPool1d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true)
      : TorchLayer(LayerArgs::of(
            {kernel_size, stride, padding, ceil_mode, count_include_pad})) {}
};

// Sums are divided by `divisor_override` unless none.
template <typename T, Text name, Text function>
class AvgPool : public TorchLayer<T, name, function, "input", AvgPoolBase> {
 public:
  using AvgPool::TorchLayer::TorchLayer;
  explicit AvgPool(Value kernel_size, Value stride = None, Value padding = 0,
                   bool ceil_mode = false, bool count_include_pad = true,
                   Value divisor_override = None)
      : AvgPool::TorchLayer(
            LayerArgs::of({kernel_size, stride, padding, ceil_mode,
                           count_include_pad, divisor_override})) {}
  const Value divisor_override = this->field("divisor_override", Shown::hidden);
};

struct AvgPool2d : AvgPool<AvgPool2d, "AvgPool2d", "torch._C._nn.avg_pool2d"> {
  using AvgPool::AvgPool;
};
struct AvgPool3d : AvgPool<AvgPool3d, "AvgPool3d", "torch._C._nn.avg_pool3d"> {
  using AvgPool::AvgPool;
};

// Windows such that the result has `output_size`; an entry of none in a tuple
// keeps the input's size.
template <typename T, Text name, Text function>
class AdaptivePool : public TorchLayer<T, name, function> {
 public:
  using AdaptivePool::TorchLayer::TorchLayer;
  explicit AdaptivePool(Value output_size)
      : AdaptivePool::TorchLayer(LayerArgs::of({output_size})) {}
  const Value output_size = this->field("output_size");
};

struct AdaptiveAvgPool1d : AdaptivePool<AdaptiveAvgPool1d, "AdaptiveAvgPool1d",
                                        "torch.adaptive_avg_pool1d"> {
  using AdaptivePool::AdaptivePool;
};
struct AdaptiveAvgPool2d : AdaptivePool<AdaptiveAvgPool2d, "AdaptiveAvgPool2d",
                                        "F.adaptive_avg_pool2d"> {
  using AdaptivePool::AdaptivePool;
};
struct AdaptiveAvgPool3d : AdaptivePool<AdaptiveAvgPool3d, "AdaptiveAvgPool3d",
                                        "F.adaptive_avg_pool3d"> {
  using AdaptivePool::AdaptivePool;
};
struct AdaptiveMaxPool1d : AdaptivePool<AdaptiveMaxPool1d, "AdaptiveMaxPool1d",
                                        "F.adaptive_max_pool1d"> {
  using AdaptivePool::AdaptivePool;
};
struct AdaptiveMaxPool2d : AdaptivePool<AdaptiveMaxPool2d, "AdaptiveMaxPool2d",
                                        "F.adaptive_max_pool2d"> {
  using AdaptivePool::AdaptivePool;
};

using PoolingLayers =
    LayerList<MaxPool1d, MaxPool2d, MaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d,
              AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d,
              AdaptiveMaxPool1d, AdaptiveMaxPool2d>;

}  // namespace fxjit::nn
