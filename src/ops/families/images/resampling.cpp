#include "src/ops/families/images/resampling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/images/antialias.h"
#include "src/ops/families/shared/composition.h"

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

// Where each element of a resized dim comes from: elements of the source, by
// tap and place in the result, and their weights; no weights pick one.
template <typename C>
struct ResizeTaps {
  std::vector<std::vector<int64_t>> places;
  std::vector<std::vector<C>> weights;
};

ResizeTaps<float> nearest(const Resize& resize, bool exact) {
  std::vector<int64_t> positions;
  const float step = step_of<float>(resize);
  for (int64_t i = 0; i < resize.to; ++i) {
    const float at = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    positions.push_back(
        std::min(static_cast<int64_t>(std::floor(at)), resize.from - 1));
  }
  return {{std::move(positions)}, {}};
}

template <typename C>
ResizeTaps<C> linear(const Resize& resize) {
  ResizeTaps<C> taps{std::vector<std::vector<int64_t>>(2),
                     std::vector<std::vector<C>>(2)};
  const C step = step_of<C>(resize);
  for (int64_t i = 0; i < resize.to; ++i) {
    const C at = std::max(C(0), place_of(i, step, resize));
    const int64_t below = std::min(static_cast<int64_t>(at), resize.from - 1);
    const C part = std::clamp(at - static_cast<C>(below), C(0), C(1));
    taps.places[0].push_back(below);
    taps.places[1].push_back(std::min(below + 1, resize.from - 1));
    taps.weights[0].push_back(1 - part);
    taps.weights[1].push_back(part);
  }
  return taps;
}

// Keys' cubic of -3/4 through the four nearest elements; those outside are the
// last ones.
template <typename C>
ResizeTaps<C> cubic(const Resize& resize) {
  constexpr C kA = C(-0.75);
  const auto near = [](C t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1; };
  const auto far = [](C t) {
    return ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA;
  };
  ResizeTaps<C> taps{std::vector<std::vector<int64_t>>(4),
                     std::vector<std::vector<C>>(4)};
  const C step = step_of<C>(resize);
  for (int64_t i = 0; i < resize.to; ++i) {
    const C at = place_of(i, step, resize);
    const C below = std::floor(at), t = at - below;
    const std::array<C, 4> parts = {far(t + 1), near(t), near(1 - t),
                                    far(2 - t)};
    for (size_t k = 0; k < 4; ++k) {
      const int64_t place = static_cast<int64_t>(below) - 1 + int64_t(k);
      taps.places[k].push_back(std::clamp<int64_t>(place, 0, resize.from - 1));
      taps.weights[k].push_back(parts[k]);
    }
  }
  return taps;
}

template <typename C>
Tensor shaped(const std::vector<C>& values, const Dims& sizes) {
  constexpr DType kType = std::is_same_v<C, int64_t>  ? DType::i64
                          : std::is_same_v<C, double> ? DType::f64
                                                      : DType::f32;
  const Tensor tensor = Tensor::empty(sizes, kType);
  std::ranges::copy(values, tensor.data_as<C>());
  return tensor;
}

// Rows side by side, [taps, places]; None for no rows.
template <typename C>
Value table(const std::vector<std::vector<C>>& rows) {
  if (rows.empty()) return {};
  std::vector<C> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return shaped(all, {static_cast<int64_t>(rows.size()),
                      static_cast<int64_t>(rows[0].size())});
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
Value sampled(const Value& value, const std::vector<Resize>& resizes,
              std::string_view mode) {
  ValueList dims, places, weights;
  for (const Resize& resize : resizes) {
    const ResizeTaps<C> taps =
        mode == "bicubic" ? cubic<C>(resize) : linear<C>(resize);
    dims.emplace_back(resize.axis);
    places.push_back(table(taps.places));
    weights.push_back(table(taps.weights));
  }
  return call_row(
      "fxjit.resample_dims",
      {value, Value::tuple(dims), Value::tuple(places), Value::tuple(weights)});
}

Value picked(const Value& value, const std::vector<Resize>& resizes,
             bool exact) {
  ValueList dims, places;
  for (const Resize& resize : resizes) {
    dims.emplace_back(resize.axis);
    places.push_back(table(nearest(resize, exact).places));
  }
  return call_row("fxjit.resample_dims",
                  {value, Value::tuple(dims), Value::tuple(places),
                   Value::tuple(ValueList(dims.size()))});
}

template <typename C>
Value blended(const Value& value, const std::vector<Resize>& resizes,
              std::string_view mode) {
  if (!resizes[0].antialias) return sampled<C>(value, resizes, mode);
  Value result = value;
  for (const Resize& resize : resizes)
    result = smoothed<C>(result, resize, mode);
  return result;
}

}  // namespace

Value resampled(const Value& value, const std::vector<Resize>& resizes,
                std::string_view mode, DType dtype) {
  if (is_nearest(mode)) return picked(value, resizes, mode == "nearest-exact");
  return dtype == DType::f64 ? blended<double>(value, resizes, mode)
                             : blended<float>(value, resizes, mode);
}

}  // namespace fxjit::ops
