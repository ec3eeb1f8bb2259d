#include "fxjit/nn/padding.h"

#include "fxjit/functions.h"

namespace fxjit::nn {

PaddingBase::PaddingBase(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)), mode_(layer.function) {}

Value PaddingBase::sides(const Argument& given) const {
  Value& padding = given.value;
  const auto count = static_cast<size_t>(2 * dims());
  if (padding.is_int())
    return padding = Value::tuple(ValueList(count, padding));
  if (!padding.is_sequence() || padding.size() != count)
    throw ValueError("expected padding of one or " + std::to_string(count) +
                     " numbers, got " + fxjit::repr(padding));
  return padding = Value::tuple(padding.as_sequence());
}

Value PaddingBase::forward(Value input) {
  return functional::pad(input, padding, mode_);
}

PixelShuffle::PixelShuffle(LayerArgs given) : TorchLayer(std::move(given)) {
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

PixelUnshuffle::PixelUnshuffle(LayerArgs given) : TorchLayer(std::move(given)) {
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

}  // namespace fxjit::nn
