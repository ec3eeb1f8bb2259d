#include "fxjit/nn/padding.h"

#include "fxjit/functions.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

Value sides(const Value& padding, int64_t dims) {
  const auto count = static_cast<size_t>(2 * dims);
  if (padding.is_int()) return Value::tuple(ValueList(count, padding));
  if (!padding.is_sequence() || padding.as_sequence().size() != count)
    throw ValueError("expected padding of one or " + std::to_string(count) +
                     " numbers, got " + py(padding));
  const ValueList& numbers = padding.as_sequence();
  return Value::tuple(ValueList(numbers.begin(), numbers.end()));
}

}  // namespace

PaddingBase::PaddingBase(std::string type_name, Signature signature,
                         std::string mode, int64_t dims, Value padding)
    : LeafModule(std::move(type_name), std::move(signature)),
      padding(sides(padding, dims)),
      mode_(std::move(mode)) {}

std::string PaddingBase::extra_repr() const { return py(padding); }

Value PaddingBase::padded(const Value& input) const {
  return functional::pad(input, padding, mode_);
}

ZeroPad1d::ZeroPad1d(Value padding)
    : Custom("ZeroPad1d", {"input"}, "constant", 1, std::move(padding)) {}

Value ZeroPad1d::forward(Value input) { return padded(input); }

ZeroPad2d::ZeroPad2d(Value padding)
    : Custom("ZeroPad2d", {"input"}, "constant", 2, std::move(padding)) {}

Value ZeroPad2d::forward(Value input) { return padded(input); }

ReflectionPad1d::ReflectionPad1d(Value padding)
    : Custom("ReflectionPad1d", {"input"}, "reflect", 1, std::move(padding)) {}

Value ReflectionPad1d::forward(Value input) { return padded(input); }

ReflectionPad2d::ReflectionPad2d(Value padding)
    : Custom("ReflectionPad2d", {"input"}, "reflect", 2, std::move(padding)) {}

Value ReflectionPad2d::forward(Value input) { return padded(input); }

ReplicationPad1d::ReplicationPad1d(Value padding)
    : Custom("ReplicationPad1d", {"input"}, "replicate", 1,
             std::move(padding)) {}

Value ReplicationPad1d::forward(Value input) { return padded(input); }

ReplicationPad2d::ReplicationPad2d(Value padding)
    : Custom("ReplicationPad2d", {"input"}, "replicate", 2,
             std::move(padding)) {}

Value ReplicationPad2d::forward(Value input) { return padded(input); }

PixelShuffle::PixelShuffle(int64_t upscale_factor)
    : Custom("PixelShuffle", {"input"}), upscale_factor(upscale_factor) {
  if (upscale_factor < 1)
    throw ValueError("expected upscale_factor of at least 1, got " +
                     std::to_string(upscale_factor));
}

Value PixelShuffle::forward(Value input) {
  const int64_t r = upscale_factor;
  Value x = unflatten(input, -3, {-1, r, r});  // C, r, r, H, W
  x = movedim(x, -2, -4);                      // C, H, r, r, W
  x = transpose(x, -2, -1);                    // C, H, r, W, r
  return flatten(flatten(x, -2, -1), -3, -2);
}

std::string PixelShuffle::extra_repr() const {
  return "upscale_factor=" + std::to_string(upscale_factor);
}

PixelUnshuffle::PixelUnshuffle(int64_t downscale_factor)
    : Custom("PixelUnshuffle", {"input"}), downscale_factor(downscale_factor) {
  if (downscale_factor < 1)
    throw ValueError("expected downscale_factor of at least 1, got " +
                     std::to_string(downscale_factor));
}

Value PixelUnshuffle::forward(Value input) {
  const int64_t r = downscale_factor;
  Value x = unflatten(input, -1, {-1, r});  // C, H * r, W, r
  x = unflatten(x, -3, {-1, r});            // C, H, r, W, r
  x = movedim(x, -3, -4);                   // C, r, H, W, r
  x = movedim(x, -1, -3);                   // C, r, r, H, W
  return flatten(x, -5, -3);
}

std::string PixelUnshuffle::extra_repr() const {
  return "downscale_factor=" + std::to_string(downscale_factor);
}

}  // namespace fxjit::nn
