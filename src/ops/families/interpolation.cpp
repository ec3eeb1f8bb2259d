// Resizing of images: one spatial dim after the other, rows picked by constant
// indices and blended with constant weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "fxjit/functions_structured.h"
#include "src/ops/families.h"
#include "src/ops/families/antialias.h"
#include "src/ops/families/composition.h"
#include "src/ops/families/structured.h"

namespace fxjit::ops {
namespace {

// How a spatial dim changes.
struct Resize {
  int axis;
  int64_t from, to;
  // Result elements per source element where the caller says so; the sizes
  // say it otherwise.
  std::optional<double> factor;
  bool align_corners;
  bool antialias = false;
};

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

Value index_of(const std::vector<int64_t>& positions) {
  return Tensor::from(positions, {static_cast<int64_t>(positions.size())});
}

Value nearest(const Value& value, const Resize& resize, bool exact) {
  std::vector<int64_t> positions;
  const float step = step_of<float>(resize);
  for (int64_t i = 0; i < resize.to; ++i) {
    const float at = (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * step;
    positions.push_back(
        std::min(static_cast<int64_t>(std::floor(at)), resize.from - 1));
  }
  return fxjit::index_select(value, resize.axis, index_of(positions));
}

template <typename C>
Tensor tensor_of(const std::vector<C>& values, const Dims& sizes) {
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
  const Value weight = tensor_of(weights, along(value, resize));
  const Value a = fxjit::index_select(value, resize.axis, index_of(lower));
  const Value b = fxjit::index_select(value, resize.axis, index_of(upper));
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
        fxjit::index_select(value, resize.axis, index_of(places[k])) *
        tensor_of(weights[k], along(value, resize));
    sum = k == 0 ? part : sum + part;
  }
  return sum;
}

// Means over what each element of the result covers.
Value area(const Value& value, const std::vector<Resize>& sizes) {
  ValueList to;
  for (const Resize& resize : sizes) to.emplace_back(resize.to);
  constexpr std::array<const char*, 3> kPools = {"F.adaptive_avg_pool1d",
                                                 "F.adaptive_avg_pool2d",
                                                 "F.adaptive_avg_pool3d"};
  return function(kPools[sizes.size() - 1],
                  {value, Value::tuple(std::move(to))});
}

bool is_area(const OpCall& call) { return same(call[3], "area"); }

// As torch states sizes: H: 4, W: 5.
std::string named_sizes(const std::vector<Resize>& resizes,
                        int64_t Resize::* size) {
  constexpr std::string_view kNames = "DHW";
  std::string text;
  for (size_t i = 0; i < resizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += kNames[kNames.size() - resizes.size() + i];
    text += ": " + std::to_string(resizes[i].*size);
  }
  return text;
}

void check_sizes(const std::vector<Resize>& resizes) {
  if (std::ranges::all_of(
          resizes, [](const Resize& r) { return r.from > 0 && r.to > 0; }))
    return;
  runtime_error(
      "Input and output sizes should be greater than 0, but got "
      "input (" +
      named_sizes(resizes, &Resize::from) +
      (resizes.size() == 1 ? ") and output (" : ") output (") +
      named_sizes(resizes, &Resize::to) + ")");
}

// Result sizes of the spatial dims and how far apart the samples lie.
std::vector<Resize> resizes(const OpCall& call, const Tensor& input,
                            bool align_corners, bool antialias) {
  const int spatial = input.dim() - 2;
  const bool by_size = call.has(1);
  if (by_size == call.has(2))
    throw ValueError(by_size
                         ? "only one of size or scale_factor should be defined"
                         : "either size or scale_factor should be defined");
  const Value& given = by_size ? call[1] : call[2];
  if (given.is_sequence() && static_cast<int>(given.size()) != spatial)
    throw ValueError(
        "Input and output must have the same number of spatial dimensions, "
        "but got input with spatial dimensions of " +
        Dims(input.sizes().span().subspan(2)).str() + " and output size of " +
        repr(given));
  std::vector<Resize> result;
  for (int i = 0; i < spatial; ++i) {
    const Value& item =
        given.is_sequence() ? given.at(static_cast<size_t>(i)) : given;
    Resize resize{i + 2, input.sizes()[i + 2], 0, {}, align_corners, antialias};
    constexpr double kLimit = 2147483648.0;
    if (!(std::abs(item.as_double()) < kLimit))
      runtime_error("interpolate: expected sizes and factors below 2^31, got " +
                    repr(given));
    resize.to = by_size
                    ? item.as_int()
                    : static_cast<int64_t>(std::floor(
                          static_cast<double>(resize.from) * item.as_double()));
    if (!by_size && !(call.has(5) && call.flag(5)))
      resize.factor = item.as_double();
    result.push_back(resize);
  }
  if (!is_area(call)) check_sizes(result);
  return result;
}

bool is_nearest(std::string_view mode) {
  return mode == "nearest" || mode == "nearest-exact";
}

// Whether `mode` resizes images of as many spatial dims as `input` has.
bool fits(std::string_view mode, const Tensor& input) {
  const int rank = input.dim();
  return (is_nearest(mode) && rank >= 3) || (mode == "linear" && rank == 3) ||
         (mode == "bilinear" && rank == 4) ||
         (mode == "trilinear" && rank == 5) || (mode == "bicubic" && rank == 4);
}

// Sums over all elements that one of the result stands for: a product.
template <typename C>
Value smoothed(const Value& value, const Resize& resize,
               std::string_view mode) {
  const Tensor weights =
      tensor_of(antialias_weights(resize.from, resize.to, step_of<C>(resize),
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

Value resized(const Value& image, const std::vector<Resize>& sizes,
              std::string_view mode) {
  const Tensor input = meta_of(image);
  if (empty_dim(input, input.dim() - 1) >= 0)
    runtime_error("Non-empty " + std::to_string(input.dim()) +
                  "D data tensor expected but got a tensor with sizes " +
                  input.sizes().str());
  const DType dtype = input.dtype();
  Dims result = input.sizes();
  for (const Resize& resize : sizes) result[resize.axis] = resize.to;
  check_memory(result, dtype);
  if (numel(result) == 0) return fxjit::zeros(Value(result), dtype);
  const Value wide = is_nearest(mode) ? image : widened(image, dtype);
  Value value = wide;
  for (const Resize& resize : sizes)
    value = is_nearest(mode) ? nearest(value, resize, mode == "nearest-exact")
            : dtype == DType::f64 ? sampled<double>(value, resize, mode)
                                  : sampled<float>(value, resize, mode);
  return narrowed(value, wide, dtype);
}

Value decompose_interpolate(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const std::string_view mode = call[3].as_string();
  const bool is_area_mode = is_area(call) && input.dim() <= 5;
  const bool antialias = call.flag(6);
  if (antialias &&
      ((mode != "bilinear" && mode != "bicubic") || input.dim() != 4))
    throw ValueError(
        "Anti-alias option is restricted to bilinear, bicubic, and lanczos "
        "modes and requires a 4-D tensor as input");
  if (input.dim() < 3 || (!fits(mode, input) && !is_area_mode))
    throw NotImplementedError(
        "interpolate: expected mode nearest, nearest-exact, area, linear, "
        "bilinear, bicubic or trilinear for 3 to 5 dimensions, got mode " +
        repr(call[3]) + " for " + input.sizes().str());
  if ((is_nearest(mode) || is_area(call)) && call.has(4))
    throw ValueError(
        "align_corners option can only be set with the interpolating modes: "
        "linear | bilinear | bicubic | trilinear");
  const bool align_corners = call.has(4) && call.flag(4);
  const std::vector<Resize> sizes =
      resizes(call, input, align_corners, antialias);
  return is_area(call) ? area(call[0], sizes) : resized(call[0], sizes, mode);
}

// ATen's upsample_*: the sizes of the result and, for each dim or None, the
// factor that led to it.
Value decompose_upsample(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const std::string_view mode = call[3].as_string();
  const size_t spatial = call[2].size();
  if (call[1].size() != spatial)
    runtime_error("It is expected output_size equals to " +
                  std::to_string(spatial) + ", but got size " +
                  std::to_string(call[1].size()));
  if (static_cast<size_t>(input.dim()) != spatial + 2 || !fits(mode, input))
    runtime_error("It is expected input_size equals to " +
                  std::to_string(spatial + 2) + ", but got size " +
                  std::to_string(input.dim()));
  std::vector<Resize> sizes;
  for (size_t i = 0; i < spatial; ++i) {
    const int axis = static_cast<int>(i) + 2;
    Resize resize{axis, input.sizes()[axis], call[1].at(i).as_int(),
                  {},   call.flag(4),        call.flag(5)};
    const Value& factor = call[2].at(i);
    if (!factor.is_none() && factor.as_double() > 0)
      resize.factor = factor.as_double();
    sizes.push_back(resize);
  }
  check_sizes(sizes);
  return resized(call[0], sizes, mode);
}

constexpr OpRow kRows[] = {
    {.name = "interpolate",
     .schema = "input, size=None, scale_factor=None, mode='nearest', "
               "align_corners=None, recompute_scale_factor=None, "
               "antialias=False",
     .names = "F.interpolate!",
     .lowering = Lowering::decompose,
     .decompose = decompose_interpolate},
    composed_row("upsample",
                 "input, output_size, scales, mode, align_corners=False, "
                 "antialias=False",
                 "", decompose_upsample),
};

}  // namespace

std::span<const OpRow> interpolation_rows() { return kRows; }

}  // namespace fxjit::ops
