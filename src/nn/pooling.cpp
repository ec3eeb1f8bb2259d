#include "fxjit/nn/pooling.h"

#include "fxjit/functions.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

const Value& stride_or_kernel(const Value& stride, const Value& kernel_size) {
  return stride.is_none() ? kernel_size : stride;
}

Value as_tuple(Value size) {
  return size.is_int() ? Value::tuple({std::move(size)}) : std::move(size);
}

}  // namespace

MaxPoolBase::MaxPoolBase(int dims, Value kernel, const Value& stride,
                         Value padding, Value dilation, bool ceil_mode)
    : FunctionLayer("MaxPool" + std::to_string(dims) + "d",
                    "F.max_pool" + std::to_string(dims) + "d",
                    {{"kernel_size", kernel},
                     {"stride", stride_or_kernel(stride, kernel)},
                     {"padding", padding},
                     {"dilation", dilation},
                     {"ceil_mode", ceil_mode}}),
      kernel_size(std::move(kernel)),
      stride(stride_or_kernel(stride, kernel_size)),
      padding(std::move(padding)),
      dilation(std::move(dilation)),
      ceil_mode(ceil_mode) {}

AvgPoolBase::AvgPoolBase(int dims, Value kernel, const Value& stride,
                         Value padding, bool ceil_mode, bool count_include_pad,
                         Value divisor_override)
    : LeafModule("AvgPool" + std::to_string(dims) + "d", Signature{"input"}),
      kernel_size(std::move(kernel)),
      stride(stride_or_kernel(stride, kernel_size)),
      padding(std::move(padding)),
      ceil_mode(ceil_mode),
      count_include_pad(count_include_pad),
      divisor_override(std::move(divisor_override)),
      dims_(dims) {}

Value AvgPoolBase::forward(Value input) {
  ValueList args = {input,   kernel_size, stride,
                    padding, ceil_mode,   count_include_pad};
  if (dims_ == 1) return function("torch.avg_pool1d", std::move(args));
  args.push_back(divisor_override);
  return function("torch._C._nn.avg_pool" + std::to_string(dims_) + "d",
                  std::move(args));
}

std::string AvgPoolBase::extra_repr() const {
  return "kernel_size=" + py(kernel_size) + ", stride=" + py(stride) +
         ", padding=" + py(padding);
}

AvgPool1d::AvgPool1d(Value kernel_size, Value stride, Value padding,
                     bool ceil_mode, bool count_include_pad)
    : Custom(1, as_tuple(kernel_size), as_tuple(stride), as_tuple(padding),
             ceil_mode, count_include_pad, None) {}

}  // namespace fxjit::nn
