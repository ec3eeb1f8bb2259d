#include "fxjit/nn/convolution.h"

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

// A size given once or per spatial dim, per dim. Strings stay ("same").
Value per_dim(const Value& given, int dims, const char* what) {
  if (given.is_string()) return given;
  if (given.is_int())
    return Value::tuple(ValueList(static_cast<size_t>(dims), given));
  if (!given.is_sequence() || given.size() != static_cast<size_t>(dims))
    throw ValueError(std::string("[conv] ") + what + ": expected an int or " +
                     std::to_string(dims) + " of them, got " + repr(given));
  return Value::tuple(given.as_sequence());
}

bool all_equal(const Value& sizes, int64_t to) {
  if (sizes.is_string()) return false;
  for (const Value& size : sizes.as_sequence())
    if (size.as_int() != to) return false;
  return true;
}

void check_groups(int64_t in_channels, int64_t out_channels, int64_t groups) {
  if (groups <= 0) throw ValueError("groups must be a positive integer");
  if (in_channels % groups != 0)
    throw ValueError("in_channels must be divisible by groups");
  if (out_channels % groups != 0)
    throw ValueError("out_channels must be divisible by groups");
}

}  // namespace

ConvBase::ConvBase(int spatial_dims, bool transposed, int64_t in_channels,
                   int64_t out_channels, const Value& kernel,
                   const ConvOptions& options)
    : LeafModule((transposed ? "ConvTranspose" : "Conv") +
                     std::to_string(spatial_dims) + "d",
                 {"input"}),
      in_channels(in_channels),
      out_channels(out_channels),
      groups(options.groups),
      kernel_size(per_dim(kernel, spatial_dims, "kernel_size")),
      stride(per_dim(options.stride, spatial_dims, "stride")),
      padding(per_dim(options.padding, spatial_dims, "padding")),
      dilation(per_dim(options.dilation, spatial_dims, "dilation")),
      output_padding(
          per_dim(options.output_padding, spatial_dims, "output_padding")),
      transposed_(transposed),
      function_((transposed ? "torch.conv_transpose" : "torch.conv") +
                std::to_string(spatial_dims) + "d") {
  check_groups(in_channels, out_channels, groups);
  Dims sizes = transposed ? Dims{in_channels, out_channels / groups}
                          : Dims{out_channels, in_channels / groups};
  int64_t fan_in = sizes[1];
  for (const Value& size : kernel_size.as_sequence()) {
    sizes.push_back(size.as_int());
    fan_in *= size.as_int();
  }
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  weight = register_parameter("weight", init::uniform(sizes, bound));
  bias = register_parameter(
      "bias", options.bias ? Parameter(init::uniform({out_channels}, bound))
                           : Parameter());
}

std::string ConvBase::constructor_text() const {
  std::string text = repr();
  if (!padding.is_string()) return text;
  const std::string name(padding.as_string());
  return text.replace(text.find("padding=" + name) + 8, name.size(),
                      py(padding));
}

std::string ConvBase::extra_repr() const {
  std::string text =
      std::to_string(in_channels) + ", " + std::to_string(out_channels) +
      ", kernel_size=" + py(kernel_size) + ", stride=" + py(stride);
  if (!all_equal(padding, 0))
    text +=
        ", padding=" +
        (padding.is_string() ? std::string(padding.as_string()) : py(padding));
  if (!all_equal(dilation, 1)) text += ", dilation=" + py(dilation);
  if (!all_equal(output_padding, 0))
    text += ", output_padding=" + py(output_padding);
  if (groups != 1) text += ", groups=" + std::to_string(groups);
  if (!bias.defined()) text += ", bias=False";
  return text;
}

Value ConvBase::forward(Value input) {
  if (transposed_)
    return function(function_, {input, weight, bias, stride, padding,
                                output_padding, groups, dilation});
  return function(function_,
                  {input, weight, bias, stride, padding, dilation, groups});
}

}  // namespace fxjit::nn
