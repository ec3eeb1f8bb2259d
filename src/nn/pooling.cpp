#include "fxjit/nn/pooling.h"

#include "fxjit/functions_structured.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

Value stride_or_kernel(Value stride, const Value& kernel_size) {
  return stride.is_none() ? kernel_size : std::move(stride);
}

Value as_tuple(Value size) {
  return size.is_int() ? Value::tuple({std::move(size)}) : std::move(size);
}

}  // namespace

MaxPoolBase::MaxPoolBase(std::string type_name, Value kernel, Value stride,
                         Value padding, Value dilation, bool ceil_mode)
    : LeafModule(std::move(type_name), Signature{"input"}),
      kernel_size(std::move(kernel)),
      stride(stride_or_kernel(std::move(stride), kernel_size)),
      padding(std::move(padding)),
      dilation(std::move(dilation)),
      ceil_mode(ceil_mode) {}

Value MaxPoolBase::pooled(const char* name, const Value& input) const {
  return function(name,
                  {input, kernel_size, stride, padding, dilation, ceil_mode});
}

std::string MaxPoolBase::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", stride=" + py(stride) +
         ", padding=" + py(padding) + ", dilation=" + py(dilation) +
         ", ceil_mode=" + py(ceil_mode);
}

AvgPoolBase::AvgPoolBase(std::string type_name, Value kernel, Value stride,
                         Value padding, bool ceil_mode, bool count_include_pad,
                         Value divisor_override)
    : LeafModule(std::move(type_name), Signature{"input"}),
      kernel_size(std::move(kernel)),
      stride(stride_or_kernel(std::move(stride), kernel_size)),
      padding(std::move(padding)),
      ceil_mode(ceil_mode),
      count_include_pad(count_include_pad),
      divisor_override(std::move(divisor_override)) {}

Value AvgPoolBase::pooled(const char* name, const Value& input) const {
  return function(name, {input, kernel_size, stride, padding, ceil_mode,
                         count_include_pad, divisor_override});
}

std::string AvgPoolBase::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", stride=" + py(stride) +
         ", padding=" + py(padding);
}

AdaptivePoolBase::AdaptivePoolBase(std::string type_name, Value output_size)
    : LeafModule(std::move(type_name), Signature{"input"}),
      output_size(std::move(output_size)) {}

Value AdaptivePoolBase::pooled(const char* name, const Value& input) const {
  return function(name, {input, output_size});
}

std::string AdaptivePoolBase::extra_repr() const {
  return "output_size=" + py(output_size);
}

MaxPool1d::MaxPool1d(Value kernel_size, Value stride, Value padding,
                     Value dilation, bool ceil_mode)
    : Custom("MaxPool1d", kernel_size, stride, padding, dilation, ceil_mode) {}
Value MaxPool1d::forward(Value input) { return pooled("F.max_pool1d", input); }

MaxPool2d::MaxPool2d(Value kernel_size, Value stride, Value padding,
                     Value dilation, bool ceil_mode)
    : Custom("MaxPool2d", kernel_size, stride, padding, dilation, ceil_mode) {}
Value MaxPool2d::forward(Value input) { return pooled("F.max_pool2d", input); }

MaxPool3d::MaxPool3d(Value kernel_size, Value stride, Value padding,
                     Value dilation, bool ceil_mode)
    : Custom("MaxPool3d", kernel_size, stride, padding, dilation, ceil_mode) {}
Value MaxPool3d::forward(Value input) { return pooled("F.max_pool3d", input); }

AvgPool1d::AvgPool1d(Value kernel_size, Value stride, Value padding,
                     bool ceil_mode, bool count_include_pad)
    : Custom("AvgPool1d", as_tuple(kernel_size), as_tuple(stride),
             as_tuple(padding), ceil_mode, count_include_pad, None) {}
Value AvgPool1d::forward(Value input) {
  return functional::avg_pool1d(input, kernel_size, stride, padding, ceil_mode,
                                count_include_pad);
}

AvgPool2d::AvgPool2d(Value kernel_size, Value stride, Value padding,
                     bool ceil_mode, bool count_include_pad,
                     Value divisor_override)
    : Custom("AvgPool2d", kernel_size, stride, padding, ceil_mode,
             count_include_pad, divisor_override) {}
Value AvgPool2d::forward(Value input) {
  return pooled("torch._C._nn.avg_pool2d", input);
}

AvgPool3d::AvgPool3d(Value kernel_size, Value stride, Value padding,
                     bool ceil_mode, bool count_include_pad,
                     Value divisor_override)
    : Custom("AvgPool3d", kernel_size, stride, padding, ceil_mode,
             count_include_pad, divisor_override) {}
Value AvgPool3d::forward(Value input) {
  return pooled("torch._C._nn.avg_pool3d", input);
}

AdaptiveAvgPool1d::AdaptiveAvgPool1d(Value output_size)
    : Custom("AdaptiveAvgPool1d", std::move(output_size)) {}
Value AdaptiveAvgPool1d::forward(Value input) {
  return pooled("torch.adaptive_avg_pool1d", input);
}

AdaptiveAvgPool2d::AdaptiveAvgPool2d(Value output_size)
    : Custom("AdaptiveAvgPool2d", std::move(output_size)) {}
Value AdaptiveAvgPool2d::forward(Value input) {
  return pooled("F.adaptive_avg_pool2d", input);
}

AdaptiveAvgPool3d::AdaptiveAvgPool3d(Value output_size)
    : Custom("AdaptiveAvgPool3d", std::move(output_size)) {}
Value AdaptiveAvgPool3d::forward(Value input) {
  return pooled("F.adaptive_avg_pool3d", input);
}

AdaptiveMaxPool2d::AdaptiveMaxPool2d(Value output_size)
    : Custom("AdaptiveMaxPool2d", std::move(output_size)) {}
Value AdaptiveMaxPool2d::forward(Value input) {
  return pooled("F.adaptive_max_pool2d", input);
}

}  // namespace fxjit::nn
