// Layers that resize, and one that unfolds a dim.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// To `size`, or by `scale_factor`; see functional::interpolate.
class Upsample : public OwnLayer<Upsample, "Upsample"> {
 public:
  using TorchLayer::TorchLayer;
  explicit Upsample(Value size = None, Value scale_factor = None,
                    std::string mode = "nearest", Value align_corners = None)
      : TorchLayer(LayerArgs::of({size, scale_factor, mode, align_corners})) {}
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value size = field("size");
  const Value scale_factor = as_floats(field("scale_factor"));
  const std::string mode = field("mode");
  const Value align_corners = field("align_corners");

 private:
  // torch keeps factors as floats.
  static Value as_floats(const Argument& given);
};

// The dim `dim` as several of `unflattened_size`, one of which may be -1.
struct Unflatten : OwnLayer<Unflatten, "Unflatten"> {
  using TorchLayer::TorchLayer;
  Unflatten(int64_t dim, const Dims& unflattened_size)
      : TorchLayer(LayerArgs::of({dim, unflattened_size})) {}
  Value forward(Value input);

  const int64_t dim = field("dim");
  const Dims unflattened_size = field("unflattened_size");
};

using ShapingLayers = LayerList<Upsample, Unflatten>;

}  // namespace fxjit::nn
