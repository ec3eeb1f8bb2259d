// Layers that resize, and one that unfolds a dim.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/layer.h"

namespace fxjit::nn {

// To `size`, or by `scale_factor`; see functional::interpolate.
class Upsample : public Layer<Upsample> {
 public:
  explicit Upsample(Value size = None, Value scale_factor = None,
                    std::string mode = "nearest", Value align_corners = None);
  Value forward(Value input);
  std::string extra_repr() const override;

  const Value size, scale_factor;
  const std::string mode;
  const Value align_corners;
};

// The dim `dim` as several of `unflattened_size`, one of which may be -1.
class Unflatten : public Layer<Unflatten> {
 public:
  Unflatten(int64_t dim, const Dims& unflattened_size);
  Value forward(Value input);
  std::string extra_repr() const override;

  const int64_t dim;
  const Dims unflattened_size;
};

}  // namespace fxjit::nn
