// Layers over volumes and video, [N, C, D, H, W] or [C, D, H, W]: convolutions,
// batch norm (of the former only) and pooling. Sizes are one int for all three
// dims or a tuple of three; a stride of none is the kernel size.
#pragma once

#include "fxjit/nn/convolution.h"
#include "fxjit/nn/normalization.h"

namespace fxjit::nn {

class Conv3d : public Custom<Conv3d, ConvBase> {
 public:
  Conv3d(int64_t in_channels, int64_t out_channels, Value kernel_size,
         const ConvOptions& options = {});
  Value forward(Value input);
};

class ConvTranspose3d : public Custom<ConvTranspose3d, ConvBase> {
 public:
  ConvTranspose3d(int64_t in_channels, int64_t out_channels, Value kernel_size,
                  const ConvOptions& options = {});
  Value forward(Value input);
};

class BatchNorm3d : public Custom<BatchNorm3d, BatchNormBase> {
 public:
  explicit BatchNorm3d(int64_t num_features, double eps = 1e-5,
                       double momentum = 0.1, bool affine = true,
                       bool track_running_stats = true);
  Value forward(Value input);
};

class MaxPool3d : public Layer<MaxPool3d> {
 public:
  explicit MaxPool3d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding, dilation;
  const bool ceil_mode;
};

class AvgPool3d : public Layer<AvgPool3d> {
 public:
  explicit AvgPool3d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true,
                     Value divisor_override = None);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding;
  const bool ceil_mode, count_include_pad;
  const Value divisor_override;
};

// A tuple entry of none keeps the input's size.
class AdaptiveAvgPool3d : public Layer<AdaptiveAvgPool3d> {
 public:
  explicit AdaptiveAvgPool3d(Value output_size);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value output_size;
};

}  // namespace fxjit::nn
