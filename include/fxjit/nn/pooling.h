// Pooling over the last one, two or three dims of [N, C, ...] or [C, ...].
// Sizes are one int for all these dims or a tuple of one int per dim; a stride
// of none is the kernel size.
#pragma once

#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// What all max pools have.
class MaxPoolBase : public LeafModule {
 public:
  MaxPoolBase(std::string type_name, Value kernel_size, Value stride,
              Value padding, Value dilation, bool ceil_mode);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding, dilation;
  const bool ceil_mode;

 protected:
  // By the function of that name.
  Value pooled(const char* function, const Value& input) const;
};

class MaxPool1d : public Custom<MaxPool1d, MaxPoolBase> {
 public:
  explicit MaxPool1d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false);
  Value forward(Value input);
};

class MaxPool2d : public Custom<MaxPool2d, MaxPoolBase> {
 public:
  explicit MaxPool2d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false);
  Value forward(Value input);
};

class MaxPool3d : public Custom<MaxPool3d, MaxPoolBase> {
 public:
  explicit MaxPool3d(Value kernel_size, Value stride = None, Value padding = 0,
                     Value dilation = 1, bool ceil_mode = false);
  Value forward(Value input);
};

// What all average pools have. Sums are divided by `divisor_override` unless
// none, which pools of one dim do not take.
class AvgPoolBase : public LeafModule {
 public:
  AvgPoolBase(std::string type_name, Value kernel_size, Value stride,
              Value padding, bool ceil_mode, bool count_include_pad,
              Value divisor_override);
  std::string extra_repr() const override;

  const Value kernel_size, stride, padding;
  const bool ceil_mode, count_include_pad;
  const Value divisor_override;

 protected:
  Value pooled(const char* function, const Value& input) const;
};

// Its sizes are tuples of one int once made.
class AvgPool1d : public Custom<AvgPool1d, AvgPoolBase> {
 public:
  explicit AvgPool1d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true);
  Value forward(Value input);
};

class AvgPool2d : public Custom<AvgPool2d, AvgPoolBase> {
 public:
  explicit AvgPool2d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true,
                     Value divisor_override = None);
  Value forward(Value input);
};

class AvgPool3d : public Custom<AvgPool3d, AvgPoolBase> {
 public:
  explicit AvgPool3d(Value kernel_size, Value stride = None, Value padding = 0,
                     bool ceil_mode = false, bool count_include_pad = true,
                     Value divisor_override = None);
  Value forward(Value input);
};

// Windows such that the result has `output_size`; an entry of none in a tuple
// keeps the input's size.
class AdaptivePoolBase : public LeafModule {
 public:
  AdaptivePoolBase(std::string type_name, Value output_size);
  std::string extra_repr() const override;

  const Value output_size;

 protected:
  Value pooled(const char* function, const Value& input) const;
};

class AdaptiveAvgPool1d : public Custom<AdaptiveAvgPool1d, AdaptivePoolBase> {
 public:
  explicit AdaptiveAvgPool1d(Value output_size);
  Value forward(Value input);
};

class AdaptiveAvgPool2d : public Custom<AdaptiveAvgPool2d, AdaptivePoolBase> {
 public:
  explicit AdaptiveAvgPool2d(Value output_size);
  Value forward(Value input);
};

class AdaptiveAvgPool3d : public Custom<AdaptiveAvgPool3d, AdaptivePoolBase> {
 public:
  explicit AdaptiveAvgPool3d(Value output_size);
  Value forward(Value input);
};

class AdaptiveMaxPool2d : public Custom<AdaptiveMaxPool2d, AdaptivePoolBase> {
 public:
  explicit AdaptiveMaxPool2d(Value output_size);
  Value forward(Value input);
};

}  // namespace fxjit::nn
