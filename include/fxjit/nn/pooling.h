// Pooling over the last one, two or three dims of [N, C, ...] or [C, ...].
// Sizes are one int for all these dims or a tuple of one int per dim; a stride
// of none is the kernel size.
#pragma once

#include <string>
#include <utility>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// What all max pools have.
class MaxPoolBase : public FunctionLayer {
 public:
  MaxPoolBase(int dims, Value kernel_size, const Value& stride, Value padding,
              Value dilation, bool ceil_mode);

  const Value kernel_size, stride, padding, dilation;
  const bool ceil_mode;
};

class MaxPool1d : public Custom<MaxPool1d, MaxPoolBase> {
 public:
  explicit MaxPool1d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false)
      : Custom(1, std::move(kernel_size), stride,
               std::move(padding), std::move(dilation), ceil_mode) {}
};

class MaxPool2d : public Custom<MaxPool2d, MaxPoolBase> {
 public:
  explicit MaxPool2d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false)
      : Custom(2, std::move(kernel_size), stride,
               std::move(padding), std::move(dilation), ceil_mode) {}
};

class MaxPool3d : public Custom<MaxPool3d, MaxPoolBase> {
 public:
  explicit MaxPool3d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false)
      : Custom(3, std::move(kernel_size), stride,
               std::move(padding), std::move(dilation), ceil_mode) {}
};

// What all average pools have. Sums are divided by `divisor_override` unless
// none, which pools of one dim do not take.
class AvgPoolBase : public LeafModule {
 public:
  AvgPoolBase(int dims, Value kernel_size, const Value& stride, Value padding,
              bool ceil_mode, bool count_include_pad, Value divisor_override);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding;
  const bool ceil_mode, count_include_pad;
  const Value divisor_override;

 private:
  const int dims_;
};

// Its sizes are tuples of one int once made.
class AvgPool1d : public Custom<AvgPool1d, AvgPoolBase> {
 public:
  explicit AvgPool1d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true);
};

class AvgPool2d : public Custom<AvgPool2d, AvgPoolBase> {
 public:
  explicit AvgPool2d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true,
                     Value divisor_override = None)
      : Custom(2, std::move(kernel_size), stride,
               std::move(padding), ceil_mode, count_include_pad,
               std::move(divisor_override)) {}
};

class AvgPool3d : public Custom<AvgPool3d, AvgPoolBase> {
 public:
  explicit AvgPool3d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true,
                     Value divisor_override = None)
      : Custom(3, std::move(kernel_size), stride,
               std::move(padding), ceil_mode, count_include_pad,
               std::move(divisor_override)) {}
};

// Windows such that the result has `output_size`; an entry of none in a tuple
// keeps the input's size.
class AdaptivePoolBase : public FunctionLayer {
 public:
  AdaptivePoolBase(std::string type_name, std::string function,
                   Value output_size)
      : FunctionLayer(std::move(type_name), std::move(function),
                      {{"output_size", output_size}}),
        output_size(std::move(output_size)) {}

  const Value output_size;
};

struct AdaptiveAvgPool1d : Custom<AdaptiveAvgPool1d, AdaptivePoolBase> {
  explicit AdaptiveAvgPool1d(Value output_size)
      : Custom("AdaptiveAvgPool1d", "torch.adaptive_avg_pool1d",
               std::move(output_size)) {}
};

struct AdaptiveAvgPool2d : Custom<AdaptiveAvgPool2d, AdaptivePoolBase> {
  explicit AdaptiveAvgPool2d(Value output_size)
      : Custom("AdaptiveAvgPool2d", "F.adaptive_avg_pool2d",
               std::move(output_size)) {}
};

struct AdaptiveAvgPool3d : Custom<AdaptiveAvgPool3d, AdaptivePoolBase> {
  explicit AdaptiveAvgPool3d(Value output_size)
      : Custom("AdaptiveAvgPool3d", "F.adaptive_avg_pool3d",
               std::move(output_size)) {}
};

struct AdaptiveMaxPool2d : Custom<AdaptiveMaxPool2d, AdaptivePoolBase> {
  explicit AdaptiveMaxPool2d(Value output_size)
      : Custom("AdaptiveMaxPool2d", "F.adaptive_max_pool2d",
               std::move(output_size)) {}
};

}  // namespace fxjit::nn
