#include "fxjit/nn/pooling.h"

#include "fxjit/functions_structured.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

MaxPool2d::MaxPool2d(Value kernel_size, Value stride, Value padding,
                     Value dilation, bool ceil_mode)
    : Custom("MaxPool2d", {"input"}),
      kernel_size(kernel_size),
      stride(stride.is_none() ? kernel_size : stride),
      padding(std::move(padding)),
      dilation(std::move(dilation)),
      ceil_mode(ceil_mode) {}

Value MaxPool2d::forward(Value input) {
  return functional::max_pool2d(input, kernel_size, stride, padding, dilation,
                                ceil_mode);
}

std::string MaxPool2d::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", stride=" + py(stride) +
         ", padding=" + py(padding) + ", dilation=" + py(dilation) +
         ", ceil_mode=" + py(ceil_mode);
}

AvgPool2d::AvgPool2d(Value kernel_size, Value stride, Value padding,
                     bool ceil_mode, bool count_include_pad,
                     Value divisor_override)
    : Custom("AvgPool2d", {"input"}),
      kernel_size(kernel_size),
      stride(stride.is_none() ? kernel_size : stride),
      padding(std::move(padding)),
      ceil_mode(ceil_mode),
      count_include_pad(count_include_pad),
      divisor_override(std::move(divisor_override)) {}

Value AvgPool2d::forward(Value input) {
  return functional::avg_pool2d(input, kernel_size, stride, padding, ceil_mode,
                                count_include_pad, divisor_override);
}

std::string AvgPool2d::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", stride=" + py(stride) +
         ", padding=" + py(padding);
}

AdaptiveAvgPool2d::AdaptiveAvgPool2d(Value output_size)
    : Custom("AdaptiveAvgPool2d", {"input"}),
      output_size(std::move(output_size)) {}

Value AdaptiveAvgPool2d::forward(Value input) {
  return functional::adaptive_avg_pool2d(input, output_size);
}

std::string AdaptiveAvgPool2d::extra_repr() const {
  return "output_size=" + py(output_size);
}

}  // namespace fxjit::nn
