// Resizing of images: the sizes that calls ask for, and one spatial dim after
// the other.
#include <algorithm>
#include <array>
#include <cmath>

#include "fxjit/functions_structured.h"
#include "src/ops/families/images/resampling.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

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
                        Size Resize::* size) {
  constexpr std::string_view kNames = "DHW";
  std::string text;
  for (size_t i = 0; i < resizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += kNames[kNames.size() - resizes.size() + i];
    text += ": " + to_string(resizes[i].*size);
  }
  return text;
}

void check_sizes(const std::vector<Resize>& resizes) {
  if (std::ranges::all_of(
          resizes, [](const Resize& r) { return r.from > 0 && r.to > 0; }))
    return;
  runtime_error(
      "Input and output sizes should be greater than 0, but got input (",
      named_sizes(resizes, &Resize::from),
      resizes.size() == 1 ? ") and output (" : ") output (",
      named_sizes(resizes, &Resize::to), ")");
}

// floor(size * factor), exact for a named size where the factor or its inverse
// is a whole number.
Size scaled(Size size, double factor) {
  constexpr double kMost = 65536;
  const auto whole = [](double x) {
    return x >= 1 && x <= kMost && std::trunc(x) == x;
  };
  if (!size.is_number() && whole(factor))
    return size * static_cast<int64_t>(factor);
  int exponent = 0;
  if (!size.is_number() && factor > 0 && whole(1 / factor) &&
      std::frexp(factor, &exponent) == 0.5)
    return size / static_cast<int64_t>(1 / factor);
  return static_cast<int64_t>(
      std::floor(static_cast<double>(int64_t{size}) * factor));
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
    constexpr int64_t kLimit = int64_t{1} << 31;
    const bool fits = item.is_int()
                          ? item.as_size() < kLimit && item.as_size() > -kLimit
                          : std::abs(item.as_double()) < double{kLimit};
    if (!fits)
      runtime_error("interpolate: expected sizes and factors below 2^31, got ",
                    repr(given));
    resize.to =
        by_size ? item.as_size() : scaled(resize.from, item.as_double());
    if (!by_size && !(call.has(5) && call.flag(5)))
      resize.factor = item.as_double();
    result.push_back(resize);
  }
  if (!is_area(call)) check_sizes(result);
  return result;
}

// Whether `mode` resizes images of as many spatial dims as `input` has.
bool fits(std::string_view mode, const Tensor& input) {
  const int rank = input.dim();
  return (is_nearest(mode) && rank >= 3) || (mode == "linear" && rank == 3) ||
         (mode == "bilinear" && rank == 4) ||
         (mode == "trilinear" && rank == 5) || (mode == "bicubic" && rank == 4);
}

// Blending takes floating-point images; torch has bytes as well, which it
// blends in fixed-point arithmetic of its own.
void check_blended(std::string_view mode, bool antialias, DType dtype) {
  if (is_nearest(mode) || is_floating(dtype)) return;
  no_kernel(antialias            ? "compute_index_ranges_weights"
            : mode == "bicubic"  ? "compute_indices_weights_cubic"
            : mode == "bilinear" ? "upsample_bilinear2d_channels_last"
                                 : "compute_indices_weights_linear",
            dtype);
}

Value resized(const Value& image, const std::vector<Resize>& sizes,
              std::string_view mode) {
  const Tensor input = meta_of(image);
  if (empty_dim(input, input.dim() - 1) >= 0)
    runtime_error("Non-empty ", input.dim(),
                  "D data tensor expected but got a tensor with sizes ",
                  input.sizes());
  const DType dtype = input.dtype();
  check_blended(mode, sizes[0].antialias, dtype);
  Dims result = input.sizes();
  for (const Resize& resize : sizes) result[resize.axis] = resize.to;
  check_memory(result, dtype);
  if (numel(result) == 0) return fxjit::zeros(result, dtype);
  if (!sizes[0].antialias) return resampled(image, sizes, mode, dtype);
  const Value wide = widened(image, dtype);
  return narrowed(resampled(wide, sizes, mode, dtype), wide, dtype);
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
    runtime_error("It is expected output_size equals to ", spatial,
                  ", but got size ", call[1].size());
  if (static_cast<size_t>(input.dim()) != spatial + 2 || !fits(mode, input))
    runtime_error("It is expected input_size equals to ", spatial + 2,
                  ", but got size ", input.dim());
  std::vector<Resize> sizes;
  for (size_t i = 0; i < spatial; ++i) {
    const int axis = static_cast<int>(i) + 2;
    Resize resize{axis, input.sizes()[axis], call[1].at(i).as_size(),
                  {},   call.flag(4),        call.flag(5)};
    const Value& factor = call[2].at(i);
    if (!factor.is_none() && factor.as_double() > 0)
      resize.factor = factor.as_double();
    sizes.push_back(resize);
  }
  check_sizes(sizes);
  return resized(call[0], sizes, mode);
}

// Weighted sums of the elements that places name along a dim.
Value along(const Value& value, int64_t dim, const Value& places,
            const Value& weights) {
  const auto tap = [&](const Value& table, int64_t k) {
    return fxjit::select(table, 0, k);
  };
  if (weights.is_none()) return fxjit::index_select(value, dim, tap(places, 0));
  Dims shape(meta_of(value).dim(), 1);
  shape[wrap_dim(dim, shape.size())] = meta_of(places).size(1);
  Value sum;
  for (int64_t k = 0; k < meta_of(places).size(0); ++k) {
    const Value part = fxjit::index_select(value, dim, tap(places, k)) *
                       fxjit::reshape(tap(weights, k), shape);
    sum = k == 0 ? part : sum + part;
  }
  return sum;
}

Value decompose_resample(const OpCall& call) {
  const DType dtype = meta_of(call[0]).dtype();
  const bool sums = std::ranges::any_of(
      call[3].as_sequence(), [](const Value& w) { return !w.is_none(); });
  const Value wide = sums ? widened(call[0], dtype) : call[0];
  Value value = wide;
  for (size_t i = 0; i < call[1].size(); ++i)
    value = along(value, call[1].at(i).as_int(), call[2].at(i), call[3].at(i));
  return narrowed(value, wide, dtype);
}

// Areas are pooling.
Layout layout_of_interpolate(const OpCall& call) {
  const Value& mode = call[3];
  const bool area = mode.is_string() && mode.as_string() == "area";
  return area ? Layout::stated : Layout::padded;
}

constexpr OpRow kInterpolationRows[] = {
    composed_row("interpolate",
                 "input, size=None, scale_factor=None, mode='nearest', "
                 "align_corners=None, recompute_scale_factor=None, "
                 "antialias=False",
                 "F.interpolate!", decompose_interpolate)
        .stating({.layout_of = layout_of_interpolate}),
    composed_row("upsample",
                 "input, output_size, scales, mode, align_corners=False, "
                 "antialias=False",
                 "", decompose_upsample)
        .stating({.layout = Layout::padded}),
    // One dim after the other: tables [taps, size of the result] of places,
    // i64, and of weights, or None for one tap that is taken as it is. Half
    // types are summed in float32.
    composed_row("fxjit.resample_dims", "input, dims, places, weights",
                 "fxjit.resample_dims", decompose_resample),
};

}  // namespace

std::span<const OpRow> interpolation_rows() { return kInterpolationRows; }

}  // namespace fxjit::ops
