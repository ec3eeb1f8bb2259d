#include "fxjit/nn/volumes.h"

#include "fxjit/functions_structured.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

Conv3d::Conv3d(int64_t in_channels, int64_t out_channels, Value kernel_size,
               const ConvOptions& options)
    : Custom("Conv3d", Signature{"input"}, 3, false, in_channels, out_channels,
             kernel_size, options) {}

Value Conv3d::forward(Value input) {
  return functional::conv3d(input, weight, bias, stride, padding, dilation,
                            groups);
}

ConvTranspose3d::ConvTranspose3d(int64_t in_channels, int64_t out_channels,
                                 Value kernel_size, const ConvOptions& options)
    : Custom("ConvTranspose3d", Signature{"input"}, 3, true, in_channels,
             out_channels, kernel_size, options) {}

Value ConvTranspose3d::forward(Value input) {
  return function("F.conv_transpose3d", {input, weight, bias, stride, padding,
                                         output_padding, groups, dilation});
}

BatchNorm3d::BatchNorm3d(int64_t num_features, double eps, double momentum,
                         bool affine, bool track_running_stats)
    : Custom("BatchNorm3d", 5, 5, num_features, eps, momentum, affine,
             track_running_stats) {}

Value BatchNorm3d::forward(Value input) { return normalize(input); }

MaxPool3d::MaxPool3d(Value kernel_size, Value stride, Value padding,
                     Value dilation, bool ceil_mode)
    : Custom("MaxPool3d", {"input"}),
      kernel_size(kernel_size),
      stride(stride.is_none() ? kernel_size : stride),
      padding(std::move(padding)),
      dilation(std::move(dilation)),
      ceil_mode(ceil_mode) {}

Value MaxPool3d::forward(Value input) {
  return function("F.max_pool3d",
                  {input, kernel_size, stride, padding, dilation, ceil_mode});
}

std::string MaxPool3d::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", stride=" + py(stride) +
         ", padding=" + py(padding) + ", dilation=" + py(dilation) +
         ", ceil_mode=" + py(ceil_mode);
}

AvgPool3d::AvgPool3d(Value kernel_size, Value stride, Value padding,
                     bool ceil_mode, bool count_include_pad,
                     Value divisor_override)
    : Custom("AvgPool3d", {"input"}),
      kernel_size(kernel_size),
      stride(stride.is_none() ? kernel_size : stride),
      padding(std::move(padding)),
      ceil_mode(ceil_mode),
      count_include_pad(count_include_pad),
      divisor_override(std::move(divisor_override)) {}

Value AvgPool3d::forward(Value input) {
  return function("F.avg_pool3d",
                  {input, kernel_size, stride, padding, ceil_mode,
                   count_include_pad, divisor_override});
}

std::string AvgPool3d::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", stride=" + py(stride) +
         ", padding=" + py(padding);
}

AdaptiveAvgPool3d::AdaptiveAvgPool3d(Value output_size)
    : Custom("AdaptiveAvgPool3d", {"input"}),
      output_size(std::move(output_size)) {}

Value AdaptiveAvgPool3d::forward(Value input) {
  return function("F.adaptive_avg_pool3d", {input, output_size});
}

std::string AdaptiveAvgPool3d::extra_repr() const {
  return "output_size=" + py(output_size);
}

}  // namespace fxjit::nn
