// Resizing of images: one spatial dim after the other, rows picked by constant
// indices and blended with constant weights.
#include <array>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families.h"
#include "src/ops/families/composition.h"
#include "src/ops/families/structured.h"

namespace fxjit::ops {
namespace {

struct Resize {
  int axis;
  int64_t from, to;
  float scale;  // Source elements per result element.
};

Value index_of(const std::vector<int64_t>& positions) {
  return Tensor::from(positions, {static_cast<int64_t>(positions.size())});
}

Value nearest(const Value& value, const Resize& resize, bool exact) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < resize.to; ++i) {
    const float at =
        (static_cast<float>(i) + (exact ? 0.5f : 0.0f)) * resize.scale;
    positions.push_back(
        std::min(static_cast<int64_t>(std::floor(at)), resize.from - 1));
  }
  return fxjit::index_select(value, resize.axis, index_of(positions));
}

Value blended(const Value& value, const Resize& resize, bool align_corners) {
  std::vector<int64_t> lower, upper;
  std::vector<float> weights;
  for (int64_t i = 0; i < resize.to; ++i) {
    float at = static_cast<float>(i) * resize.scale;
    if (!align_corners)
      at = std::max(0.0f, (static_cast<float>(i) + 0.5f) * resize.scale - 0.5f);
    const int64_t below = std::min(static_cast<int64_t>(at), resize.from - 1);
    lower.push_back(below);
    upper.push_back(std::min(below + 1, resize.from - 1));
    weights.push_back(std::clamp(at - static_cast<float>(below), 0.0f, 1.0f));
  }
  Dims shape(meta_of(value).dim(), 1);
  shape[resize.axis] = resize.to;
  const Value weight = Tensor::from(weights, shape);
  const Value a = fxjit::index_select(value, resize.axis, index_of(lower));
  const Value b = fxjit::index_select(value, resize.axis, index_of(upper));
  return a * (1.0 - weight) + b * weight;
}

// Keys' cubic of -3/4 through the four nearest elements; those outside are the
// last ones.
Value cubic(const Value& value, const Resize& resize, bool align_corners) {
  constexpr float kA = -0.75f;
  const auto near = [](float t) {
    return ((kA + 2) * t - (kA + 3)) * t * t + 1;
  };
  const auto far = [](float t) {
    return ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA;
  };
  std::array<std::vector<int64_t>, 4> places;
  std::array<std::vector<float>, 4> weights;
  for (int64_t i = 0; i < resize.to; ++i) {
    float at = static_cast<float>(i) * resize.scale;
    if (!align_corners)
      at = (static_cast<float>(i) + 0.5f) * resize.scale - 0.5f;
    const float below = std::floor(at), t = at - below;
    const std::array<float, 4> parts = {far(t + 1), near(t), near(1 - t),
                                        far(2 - t)};
    for (size_t k = 0; k < 4; ++k) {
      const int64_t place = static_cast<int64_t>(below) - 1 + int64_t(k);
      places[k].push_back(std::clamp<int64_t>(place, 0, resize.from - 1));
      weights[k].push_back(parts[k]);
    }
  }
  Dims shape(meta_of(value).dim(), 1);
  shape[resize.axis] = resize.to;
  Value sum;
  for (size_t k = 0; k < 4; ++k) {
    const Value part =
        fxjit::index_select(value, resize.axis, index_of(places[k])) *
        Tensor::from(weights[k], shape);
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

// Result sizes of the spatial dims and how far apart the samples lie.
std::vector<Resize> resizes(const OpCall& call, const Tensor& input,
                            bool align_corners) {
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
    Resize resize{i + 2, input.sizes()[i + 2], 0, 0};
    constexpr double kLimit = 2147483648.0;
    if (!(std::abs(item.as_double()) < kLimit))
      runtime_error("interpolate: expected sizes and factors below 2^31, got " +
                    repr(given));
    resize.to = by_size
                    ? item.as_int()
                    : static_cast<int64_t>(std::floor(
                          static_cast<double>(resize.from) * item.as_double()));
    if (!is_area(call) && (resize.from <= 0 || resize.to <= 0))
      runtime_error(
          "Input and output sizes should be greater than 0, but got "
          "input (" +
          std::to_string(resize.from) + ") output (" +
          std::to_string(resize.to) + ")");
    const bool recompute = by_size || (call.has(5) && call.flag(5));
    resize.scale = recompute ? static_cast<float>(resize.from) /
                                   static_cast<float>(resize.to)
                             : static_cast<float>(1.0 / item.as_double());
    if (align_corners)
      resize.scale = resize.to > 1 ? static_cast<float>(resize.from - 1) /
                                         static_cast<float>(resize.to - 1)
                                   : 0;
    result.push_back(resize);
  }
  return result;
}

Dims resized(const Tensor& input, const std::vector<Resize>& sizes) {
  Dims result = input.sizes();
  for (const Resize& resize : sizes) result[resize.axis] = resize.to;
  check_memory(result, input.dtype());
  return result;
}

Value decompose_interpolate(const OpCall& call) {
  const Tensor input = meta_of(call[0]);
  const std::string_view mode = call[3].as_string();
  const bool is_nearest = mode == "nearest" || mode == "nearest-exact";
  const bool is_linear = (mode == "linear" && input.dim() == 3) ||
                         (mode == "bilinear" && input.dim() == 4) ||
                         (mode == "trilinear" && input.dim() == 5);
  const bool is_cubic = mode == "bicubic" && input.dim() == 4;
  if (input.dim() < 3 || call.flag(6) ||
      (!is_nearest && !is_linear && !is_cubic &&
       !(is_area(call) && input.dim() <= 5)))
    throw NotImplementedError(
        "interpolate: expected mode nearest, nearest-exact, area, linear, "
        "bilinear, bicubic or trilinear for 3 to 5 dimensions without "
        "antialias, got mode " +
        repr(call[3]) + " for " + input.sizes().str());
  if ((is_nearest || is_area(call)) && call.has(4))
    throw ValueError(
        "align_corners option can only be set with the interpolating modes: "
        "linear | bilinear | bicubic | trilinear");
  const bool align_corners = call.has(4) && call.flag(4);
  const std::vector<Resize> sizes = resizes(call, input, align_corners);
  if (is_area(call)) return area(call[0], sizes);
  if (empty_dim(input, input.dim() - 1) >= 0)
    runtime_error("Non-empty " + std::to_string(input.dim()) +
                  "D data tensor expected but got a tensor with sizes " +
                  input.sizes().str());
  const Dims result = resized(input, sizes);
  if (numel(result) == 0) return fxjit::zeros(Value(result), input.dtype());
  const DType dtype = input.dtype();
  const Value wide = is_nearest ? call[0] : widened(call[0], dtype);
  Value value = wide;
  for (const Resize& resize : sizes)
    value = is_nearest ? nearest(value, resize, mode == "nearest-exact")
            : is_cubic ? cubic(value, resize, align_corners)
                       : blended(value, resize, align_corners);
  return narrowed(value, wide, dtype);
}

constexpr OpRow kRows[] = {
    {.name = "interpolate",
     .schema = "input, size=None, scale_factor=None, mode='nearest', "
               "align_corners=None, recompute_scale_factor=None, "
               "antialias=False",
     .names = "F.interpolate!",
     .lowering = Lowering::decompose,
     .decompose = decompose_interpolate},
};

}  // namespace

std::span<const OpRow> interpolation_rows() { return kRows; }

}  // namespace fxjit::ops
