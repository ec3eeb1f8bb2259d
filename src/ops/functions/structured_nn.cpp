#include "fxjit/functions_structured.h"
#include "src/ops/functions/call.h"

namespace fxjit::nn::functional {

using functions::call;
using functions::call_typed;
using functions::call_with;

Value softmax(const Arg& input, const Arg& dim, const Arg& dtype) {
  return call_typed("F.softmax", {input, dim}, dtype);
}
Value log_softmax(const Arg& input, const Arg& dim, const Arg& dtype) {
  return call_typed("F.log_softmax", {input, dim}, dtype);
}
Value layer_norm(const Arg& input, const Arg& normalized_shape,
                 const Arg& weight, const Arg& bias, double eps) {
  return call("F.layer_norm", {input, normalized_shape, weight, bias, eps});
}
Value rms_norm(const Arg& input, const Arg& normalized_shape, const Arg& weight,
               const Arg& eps) {
  return call("F.rms_norm", {input, normalized_shape, weight, eps});
}
Value batch_norm(const Arg& input, const Arg& running_mean,
                 const Arg& running_var, const Arg& weight, const Arg& bias,
                 bool training, double momentum, double eps) {
  return call("F.batch_norm", {input, running_mean, running_var, weight, bias,
                               training, momentum, eps});
}
Value group_norm(const Arg& input, const Arg& num_groups, const Arg& weight,
                 const Arg& bias, double eps) {
  return call("F.group_norm", {input, num_groups, weight, bias, eps});
}
Value normalize(const Arg& input, double p, const Arg& dim, double eps) {
  return call("F.normalize", {input, p, dim, eps});
}

Value linear(const Arg& input, const Arg& weight, const Arg& bias) {
  return call("torch._C._nn.linear", {input, weight, bias});
}

Value conv1d(const Arg& input, const Arg& weight, const Arg& bias,
             const Arg& stride, const Arg& padding, const Arg& dilation,
             const Arg& groups) {
  return call("torch.conv1d",
              {input, weight, bias, stride, padding, dilation, groups});
}
Value conv2d(const Arg& input, const Arg& weight, const Arg& bias,
             const Arg& stride, const Arg& padding, const Arg& dilation,
             const Arg& groups) {
  return call("torch.conv2d",
              {input, weight, bias, stride, padding, dilation, groups});
}
Value conv3d(const Arg& input, const Arg& weight, const Arg& bias,
             const Arg& stride, const Arg& padding, const Arg& dilation,
             const Arg& groups) {
  return call("torch.conv3d",
              {input, weight, bias, stride, padding, dilation, groups});
}
Value conv_transpose1d(const Arg& input, const Arg& weight, const Arg& bias,
                       const Arg& stride, const Arg& padding,
                       const Arg& output_padding, const Arg& groups,
                       const Arg& dilation) {
  return call("torch.conv_transpose1d", {input, weight, bias, stride, padding,
                                         output_padding, groups, dilation});
}
Value conv_transpose2d(const Arg& input, const Arg& weight, const Arg& bias,
                       const Arg& stride, const Arg& padding,
                       const Arg& output_padding, const Arg& groups,
                       const Arg& dilation) {
  return call("torch.conv_transpose2d", {input, weight, bias, stride, padding,
                                         output_padding, groups, dilation});
}

Value glu(const Arg& input, const Arg& dim) {
  return call("F.glu", {input, dim});
}

Value max_pool1d(const Arg& input, const Arg& kernel_size, const Arg& stride,
                 const Arg& padding, const Arg& dilation, bool ceil_mode) {
  return call("F.max_pool1d",
              {input, kernel_size, stride, padding, dilation, ceil_mode});
}
Value max_pool2d(const Arg& input, const Arg& kernel_size, const Arg& stride,
                 const Arg& padding, const Arg& dilation, bool ceil_mode) {
  return call("F.max_pool2d",
              {input, kernel_size, stride, padding, dilation, ceil_mode});
}
Value avg_pool1d(const Arg& input, const Arg& kernel_size, const Arg& stride,
                 const Arg& padding, const Arg& ceil_mode,
                 const Arg& count_include_pad) {
  return call("torch.avg_pool1d", {input, kernel_size, stride, padding,
                                   ceil_mode, count_include_pad});
}
Value avg_pool2d(const Arg& input, const Arg& kernel_size, const Arg& stride,
                 const Arg& padding, const Arg& ceil_mode,
                 const Arg& count_include_pad, const Arg& divisor_override) {
  return call("torch._C._nn.avg_pool2d",
              {input, kernel_size, stride, padding, ceil_mode,
               count_include_pad, divisor_override});
}
Value adaptive_avg_pool1d(const Arg& input, const Arg& output_size) {
  return call("torch.adaptive_avg_pool1d", {input, output_size});
}
Value adaptive_avg_pool2d(const Arg& input, const Arg& output_size) {
  return call("F.adaptive_avg_pool2d", {input, output_size});
}
Value adaptive_max_pool2d(const Arg& input, const Arg& output_size) {
  return call("F.adaptive_max_pool2d", {input, output_size});
}
Value interpolate(const Arg& input, const Arg& size, const Arg& scale_factor,
                  const Arg& mode, const Arg& align_corners) {
  return call("F.interpolate",
              {input, size, scale_factor, mode, align_corners});
}

Value embedding(const Arg& input, const Arg& weight, const Arg& padding_idx) {
  return call("F.embedding", {input, weight, padding_idx});
}
Value one_hot(const Arg& tensor, const Arg& num_classes) {
  return call("torch._C._nn.one_hot", {tensor, num_classes});
}
Value pad(const Arg& input, const Arg& pad, const Arg& mode, const Arg& value) {
  return call("F.pad", {input, pad, mode, value});
}

Value scaled_dot_product_attention(const Arg& query, const Arg& key,
                                   const Arg& value, const Arg& attn_mask,
                                   const Arg& dropout_p, const Arg& is_causal,
                                   const Arg& scale, const Arg& enable_gqa) {
  return call_with("torch._C._nn.scaled_dot_product_attention",
                   {query, key, value, attn_mask, dropout_p, is_causal},
                   {{"scale", scale}, {"enable_gqa", enable_gqa}});
}

}  // namespace fxjit::nn::functional
