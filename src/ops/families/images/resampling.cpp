#include "src/ops/families/images/resampling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/images/antialias.h"

namespace fxjit::ops {
namespace {

// Source elements per result element. Positions are computed as torch computes
// them, in `C`.
template <typename C>
C step_of(const Resize& resize) {
  if (resize.align_corners)
    return resize.to > 1
               ? static_cast<C>(resize.from - 1) / static_cast<C>(resize.to - 1)
               : 0;
  return resize.factor
             ? static_cast<C>(1.0 / *resize.factor)
             : static_cast<C>(resize.from) / static_cast<C>(resize.to);
}

// The place in the source of result element `i`.
template <typename C>
C place_of(int64_t i, C step, const Resize& resize) {
  const C at = static_cast<C>(i);
  return resize.align_corners ? at * step : (at + C(0.5)) * step - C(0.5);
}

Value nearest(const Value& value, const Resize& resize, bool exact) {
  std::vector<int64_t> positions;
  const float step = step_of<float>(resize);
  for (int64_t i = 0; i < resize.to; ++i) {
    const float at = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    positions.push_back(
        std::min(static_cast<int64_t>(std::floor(at)), resize.from - 1));
  }
  return fxjit::index_select(value, resize.axis, tensor_of(positions));
}

template <typename C>
Tensor shaped(const std::vector<C>& values, const Dims& sizes) {
  const Tensor tensor =
      Tensor::empty(sizes, std::is_same_v<C, double> ? DType::f64 : DType::f32);
  std::ranges::copy(values, tensor.data_as<C>());
  return tensor;
}

Dims along(const Value& value, const Resize& resize) {
  Dims shape(meta_of(value).dim(), 1);
  shape[resize.axis] = resize.to;
  return shape;
}

template <typename C>
Value blended(const Value& value, const Resize& resize) {
  std::vector<int64_t> lower, upper;
  std::vector<C> weights;
  const C step = step_of<C>(resize);
  for (int64_t i = 0; i < resize.to; ++i) {
    const C at = std::max(C(0), place_of(i, step, resize));
    const int64_t below = std::min(static_cast<int64_t>(at), resize.from - 1);
    lower.push_back(below);
    upper.push_back(std::min(below + 1, resize.from - 1));
    weights.push_back(std::clamp(at - static_cast<C>(below), C(0), C(1)));
  }
  const Value weight = shaped(weights, along(value, resize));
  const Value a = fxjit::index_select(value, resize.axis, tensor_of(lower));
  const Value b = fxjit::index_select(value, resize.axis, tensor_of(upper));
  return a * (1.0 - weight) + b * weight;
}

// Keys' cubic of -3/4 through the four nearest elements; those outside are the
// last ones.
template <typename C>
Value cubic(const Value& value, const Resize& resize) {
  constexpr C kA = C(-0.75);
  const auto near = [](C t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1; };
  const auto far = [](C t) {
    return ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA;
  };
  std::array<std::vector<int64_t>, 4> places;
  std::array<std::vector<C>, 4> weights;
  const C step = step_of<C>(resize);
  for (int64_t i = 0; i < resize.to; ++i) {
    const C at = place_of(i, step, resize);
    const C below = std::floor(at), t = at - below;
    const std::array<C, 4> parts = {far(t + 1), near(t), near(1 - t),
                                    far(2 - t)};
    for (size_t k = 0; k < 4; ++k) {
      const int64_t place = static_cast<int64_t>(below) - 1 + int64_t(k);
      places[k].push_back(std::clamp<int64_t>(place, 0, resize.from - 1));
      weights[k].push_back(parts[k]);
    }
  }
  Value sum;
  for (size_t k = 0; k < 4; ++k) {
    const Value part =
        fxjit::index_select(value, resize.axis, tensor_of(places[k])) *
        shaped(weights[k], along(value, resize));
    sum = k == 0 ? part : sum + part;
  }
  return sum;
}

// Sums over all elements that one of the result stands for: a product.
template <typename C>
Value smoothed(const Value& value, const Resize& resize,
               std::string_view mode) {
  const Tensor weights =
      shaped(antialias_weights(resize.from, resize.to, step_of<C>(resize),
                               mode == "bicubic"),
             {resize.to, resize.from});
  if (resize.axis == meta_of(value).dim() - 1)
    return fxjit::matmul(value, fxjit::transpose(weights, 0, 1));
  return fxjit::matmul(weights, value);
}

template <typename C>
Value sampled(const Value& value, const Resize& resize, std::string_view mode) {
  if (resize.antialias) return smoothed<C>(value, resize, mode);
  return mode == "bicubic" ? cubic<C>(value, resize)
                           : blended<C>(value, resize);
}

}  // namespace

Value resampled(const Value& value, const Resize& resize, std::string_view mode,
                DType dtype) {
  if (is_nearest(mode)) return nearest(value, resize, mode == "nearest-exact");
  return dtype == DType::f64 ? sampled<double>(value, resize, mode)
                             : sampled<float>(value, resize, mode);
}

}  // namespace fxjit::ops
