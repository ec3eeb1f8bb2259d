// Padding of the last dims, and channels to pixels and back.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// Elements added before and after the last dims: one int for all sides, or
// (left, right) or (left, right, top, bottom), negative ones cut off.
class PaddingBase : public LayerBase {
 public:
  // The function of the class is the mode of functional::pad.
  PaddingBase(const LayerClass& layer, LayerArgs given);
  Value forward(Value input);

  // A tuple of two numbers per dim.
  const Value padding = sides(field("padding", Shown::bare));

 private:
  Value sides(const Argument& given) const;
  std::string mode_;
};

// Of as many dims as the name ends in.
template <typename T, Text name, Text mode>
class PaddingLayer : public TorchLayer<T, name, mode, "input", PaddingBase> {
 public:
  using PaddingLayer::TorchLayer::TorchLayer;
  explicit PaddingLayer(const Value& padding)
      : PaddingLayer::TorchLayer(LayerArgs::of({padding})) {}
};

struct ZeroPad1d : PaddingLayer<ZeroPad1d, "ZeroPad1d", "constant"> {
  using PaddingLayer::PaddingLayer;
};
struct ZeroPad2d : PaddingLayer<ZeroPad2d, "ZeroPad2d", "constant"> {
  using PaddingLayer::PaddingLayer;
};
struct ReflectionPad1d
    : PaddingLayer<ReflectionPad1d, "ReflectionPad1d", "reflect"> {
  using PaddingLayer::PaddingLayer;
};
struct ReflectionPad2d
    : PaddingLayer<ReflectionPad2d, "ReflectionPad2d", "reflect"> {
  using PaddingLayer::PaddingLayer;
};
struct ReplicationPad1d
    : PaddingLayer<ReplicationPad1d, "ReplicationPad1d", "replicate"> {
  using PaddingLayer::PaddingLayer;
};
struct ReplicationPad2d
    : PaddingLayer<ReplicationPad2d, "ReplicationPad2d", "replicate"> {
  using PaddingLayer::PaddingLayer;
};

// [.., C * r * r, H, W] to [.., C, H * r, W * r].
class PixelShuffle : public OwnLayer<PixelShuffle, "PixelShuffle"> {
 public:
  explicit PixelShuffle(LayerArgs given);
  explicit PixelShuffle(int64_t upscale_factor)
      : PixelShuffle(LayerArgs::of({upscale_factor})) {}
  Value forward(Value input);
  const int64_t upscale_factor = field("upscale_factor");
};

// [.., C, H * r, W * r] to [.., C * r * r, H, W].
class PixelUnshuffle : public OwnLayer<PixelUnshuffle, "PixelUnshuffle"> {
 public:
  explicit PixelUnshuffle(LayerArgs given);
  explicit PixelUnshuffle(int64_t downscale_factor)
      : PixelUnshuffle(LayerArgs::of({downscale_factor})) {}
  Value forward(Value input);
  const int64_t downscale_factor = field("downscale_factor");
};

using PaddingLayers =
    LayerList<ZeroPad1d, ZeroPad2d, ReflectionPad1d, ReflectionPad2d,
              ReplicationPad1d, ReplicationPad2d, PixelShuffle, PixelUnshuffle>;

}  // namespace fxjit::nn
