// Resizing of spatial dims of an image: elements picked by constant places and
// blended with constant weights. Used by interpolation.cpp; images may be
// proxies.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fxjit/functions.h"
#include "src/ops/families/shared/structured.h"

namespace fxjit::ops {

// How a spatial dim changes.
struct Resize {
  int axis;
  Size from, to;
  // Result elements per source element where the caller says so; the sizes
  // say it otherwise.
  std::optional<double> factor;
  bool align_corners;
  bool antialias = false;
};

inline bool is_nearest(std::string_view mode) {
  return mode == "nearest" || mode == "nearest-exact";
}

// `value` with the dims resized: nearest, nearest-exact or bicubic by name, any
// other mode linear. Weights are computed in the type that torch computes them
// in, double for images of `dtype` f64 and else float.
Value resampled(const Value& value, const std::vector<Resize>& resizes,
                std::string_view mode, DType dtype);

}  // namespace fxjit::ops
