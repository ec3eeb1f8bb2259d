#include "fxjit/nn/convolution.h"

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/nn/init.h"

namespace fxjit::nn {
namespace {

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

// A size given once or per spatial dim, per dim. Strings stay ("same"), but for
// the kernel's.
Value ConvBase::per_dim(const Argument& given) const {
  Value& sizes = given.value;
  const auto count = static_cast<size_t>(dims());
  if (sizes.is_string() && given.name != "kernel_size") return sizes;
  if (sizes.is_int()) return sizes = Value::tuple(ValueList(count, sizes));
  if (!sizes.is_sequence() || sizes.size() != count)
    throw ValueError("[conv] " + std::string(given.name) +
                     ": expected an int or " + std::to_string(count) +
                     " of them, got " + fxjit::repr(sizes));
  return sizes = Value::tuple(sizes.as_sequence());
}

ConvBase::ConvBase(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)), function_(layer.function) {
  check_groups(in_channels, out_channels, groups);
  Dims sizes = transposed() ? Dims{in_channels, out_channels / groups}
                            : Dims{out_channels, in_channels / groups};
  int64_t fan_in = sizes[1];
  for (const Value& size : kernel_size.as_sequence()) {
    sizes.push_back(size.as_int());
    fan_in *= size.as_int();
  }
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  add("weight", &ConvBase::weight, Parameter(init::uniform(sizes, bound)));
  add("bias", &ConvBase::bias,
      with_bias_ ? Parameter(init::uniform({out_channels}, bound))
                 : Parameter());
}

bool ConvBase::transposed() const {
  return function_.starts_with("torch.conv_transpose");
}

std::string ConvBase::constructor_text() const {
  std::string text = repr();
  if (!padding.is_string()) return text;
  const std::string name(padding.as_string());
  return text.replace(text.find("padding=" + name) + 8, name.size(),
                      fxjit::repr(padding));
}

std::string ConvBase::extra_repr() const {
  std::string text = std::to_string(in_channels) + ", " +
                     std::to_string(out_channels) +
                     ", kernel_size=" + fxjit::repr(kernel_size) +
                     ", stride=" + fxjit::repr(stride);
  if (!all_equal(padding, 0))
    text +=
        ", padding=" + (padding.is_string() ? std::string(padding.as_string())
                                            : fxjit::repr(padding));
  if (!all_equal(dilation, 1)) text += ", dilation=" + fxjit::repr(dilation);
  if (!all_equal(output_padding, 0))
    text += ", output_padding=" + fxjit::repr(output_padding);
  if (groups != 1) text += ", groups=" + std::to_string(groups);
  if (!bias.defined()) text += ", bias=False";
  return text;
}

Value ConvBase::forward(Value input) {
  if (transposed())
    return function(function_, {input, weight, bias, stride, padding,
                                output_padding, groups, dilation});
  return function(function_,
                  {input, weight, bias, stride, padding, dilation, groups});
}

}  // namespace fxjit::nn
