#include "src/ops/families/images/resampling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/images/antialias.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// Source elements per result element. Positions are computed as torch computes
// them, in `C`.
template <typename C>
C step_of(const Resize& resize) {
  const int64_t from = resize.from, to = resize.to;
  if (resize.align_corners)
    return to > 1 ? static_cast<C>(from - 1) / static_cast<C>(to - 1) : 0;
  return resize.factor ? static_cast<C>(1.0 / *resize.factor)
                       : static_cast<C>(from) / static_cast<C>(to);
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
  const int64_t last = resize.from - 1, count = resize.to;
  for (int64_t i = 0; i < count; ++i) {
    const float at = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    positions.push_back(std::min(static_cast<int64_t>(std::floor(at)), last));
  }
  return {{std::move(positions)}, {}};
}

template <typename C>
ResizeTaps<C> linear(const Resize& resize) {
  ResizeTaps<C> taps{std::vector<std::vector<int64_t>>(2),
                     std::vector<std::vector<C>>(2)};
  const C step = step_of<C>(resize);
  const int64_t last = resize.from - 1, count = resize.to;
  for (int64_t i = 0; i < count; ++i) {
    const C at = std::max(C(0), place_of(i, step, resize));
    const int64_t below = std::min(static_cast<int64_t>(at), last);
    const C part = std::clamp(at - static_cast<C>(below), C(0), C(1));
    taps.places[0].push_back(below);
    taps.places[1].push_back(std::min(below + 1, last));
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
  const int64_t last = resize.from - 1, count = resize.to;
  for (int64_t i = 0; i < count; ++i) {
    const C at = place_of(i, step, resize);
    const C below = std::floor(at), t = at - below;
    const std::array<C, 4> parts = {far(t + 1), near(t), near(1 - t),
                                    far(2 - t)};
    for (size_t k = 0; k < 4; ++k) {
      const int64_t place = static_cast<int64_t>(below) - 1 + int64_t(k);
      taps.places[k].push_back(std::clamp<int64_t>(place, 0, last));
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

template <typename C>
ResizeTaps<C> resize_taps(const Resize& resize, std::string_view mode) {
  return mode == "bicubic" ? cubic<C>(resize) : linear<C>(resize);
}

bool has_name(const Resize& resize) {
  return !resize.from.is_number() || !resize.to.is_number();
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
    dims.emplace_back(resize.axis);
    const ResizeTaps<C> taps = resize_taps<C>(resize, mode);
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

// mode, from, to, factor, align_corners, dtype.
Resize resize_of(const OpCall& call) {
  Resize resize{0, call.size(1), call.size(2), {}, call.flag(4)};
  if (call.has(3)) resize.factor = call.number(3);
  return resize;
}

Tensor table_meta(const OpCall& call, DType dtype) {
  const std::string_view mode = call[0].as_string();
  const int64_t taps = is_nearest(mode) ? 1 : mode == "bicubic" ? 4 : 2;
  return Tensor::meta({taps, call.size(2)}, dtype);
}

Value infer_resample_places(const OpCall& call) {
  return table_meta(call, DType::i32);
}

Value infer_resample_weights(const OpCall& call) {
  return table_meta(call, call[5].as_dtype());
}

Value eager_resample_places(const OpCall& call) {
  const std::string_view mode = call[0].as_string();
  const Resize resize = resize_of(call);
  const auto places = is_nearest(mode)
                          ? nearest(resize, mode == "nearest-exact").places
                      : call[5].as_dtype() == DType::f64
                          ? resize_taps<double>(resize, mode).places
                          : resize_taps<float>(resize, mode).places;
  return table(places).as_tensor().to(DType::i32);
}

Value eager_resample_weights(const OpCall& call) {
  const std::string_view mode = call[0].as_string();
  return call[5].as_dtype() == DType::f64
             ? table(resize_taps<double>(resize_of(call), mode).weights)
             : table(resize_taps<float>(resize_of(call), mode).weights);
}

// input, axes, sizes, factors, mode, align_corners.
std::vector<Resize> resizes_of(const OpCall& call) {
  const Dims axes = call.dims(1), sizes = call.dims(2);
  std::vector<Resize> resizes;
  for (int i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<int>(int64_t{axes[i]});
    Resize resize{
        axis, call.tensor(0).sizes()[axis], sizes[i], {}, call.flag(5)};
    if (const Value& factor = call[3].at(static_cast<size_t>(i));
        !factor.is_none())
      resize.factor = factor.as_double();
    resizes.push_back(resize);
  }
  return resizes;
}

Value infer_resize(const OpCall& call) {
  Dims sizes = call.tensor(0).sizes();
  for (const Resize& resize : resizes_of(call)) sizes[resize.axis] = resize.to;
  return Tensor::meta(sizes, call.tensor(0).dtype());
}

Value eager_resize(const OpCall& call) {
  return resampled(call[0], resizes_of(call), call[4].as_string(),
                   call.tensor(0).dtype());
}

// Resizing to named sizes: its tables are made when these are numbers.
Value resize_call(const Value& value, const std::vector<Resize>& resizes,
                  std::string_view mode) {
  ValueList axes, sizes, factors;
  for (const Resize& resize : resizes) {
    axes.emplace_back(resize.axis);
    sizes.emplace_back(resize.to);
    factors.push_back(resize.factor ? Value(*resize.factor) : None);
  }
  return call_row(
      "fxjit.resize",
      {value, Value::tuple(axes), Value::tuple(sizes), Value::tuple(factors),
       std::string(mode), resizes[0].align_corners});
}

// What `fxjit.resample_dims` takes where a size is named: places of the
// elements that one of the result is made of, and their weights, [taps, to].
constexpr const char* kTable = "mode, from, to, factor, align_corners, dtype";

constexpr OpRow kResamplingRows[] = {
    made_row("fxjit.resize", "input, axes, sizes, factors, mode, align_corners",
             "fxjit.resize", infer_resize, eager_resize),
    made_row("fxjit.resample_places", kTable, "fxjit.resample_places",
             infer_resample_places, eager_resample_places),
    made_row("fxjit.resample_weights", kTable, "fxjit.resample_weights",
             infer_resample_weights, eager_resample_weights),
};

}  // namespace

std::span<const OpRow> resampling_rows() { return kResamplingRows; }

Value resampled(const Value& value, const std::vector<Resize>& resizes,
                std::string_view mode, DType dtype) {
  const bool has_code =
      dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
  if (has_code && !resizes[0].antialias &&
      std::ranges::any_of(resizes, [](const Resize& r) { return has_name(r); }))
    return resize_call(value, resizes, mode);
  if (is_nearest(mode)) return picked(value, resizes, mode == "nearest-exact");
  return dtype == DType::f64 ? blended<double>(value, resizes, mode)
                             : blended<float>(value, resizes, mode);
}

}  // namespace fxjit::ops
