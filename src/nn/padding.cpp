#include "fxjit/nn/padding.h"

#include "fxjit/functions.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {
namespace {

Value sides(const Value& padding, int dims) {
  const auto count = static_cast<size_t>(2 * dims);
  if (padding.is_int()) return Value::tuple(ValueList(count, padding));
  if (!padding.is_sequence() || padding.size() != count)
    throw ValueError("expected padding of one or " + std::to_string(count) +
                     " numbers, got " + py(padding));
  return Value::tuple(padding.as_sequence());
}

}  // namespace

PaddingBase::PaddingBase(const std::string& type_name, std::string mode,
                         int dims, const Value& padding)
    : LeafModule(type_name + std::to_string(dims) + "d", {"input"}),
      padding(sides(padding, dims)),
      mode_(std::move(mode)) {}

std::string PaddingBase::extra_repr() const { return py(padding); }

Value PaddingBase::forward(Value input) {
  return functional::pad(input, padding, mode_);
}

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
