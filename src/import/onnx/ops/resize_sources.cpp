#include "src/import/onnx/ops/resize_sources.h"

#include <algorithm>
#include <cmath>

namespace fxjit::onnx {

std::string nearest_mode(const Call& call) {
  return call.text("nearest_mode",
                   call.opset() < 11 ? "floor" : "round_prefer_floor");
}

Value tensor_of(const Value& number) {
  if (Recorder::example(number).is_tensor()) return number;
  return function("torch.scalar_tensor", {number}, {{"dtype", DType::f64}});
}

namespace {

Value real_line(const Value& count) {
  return arange(count, None, None, DType::f64);
}

// What falls outside of [0, size) is at its edge.
Value inside(const Value& places, const Value& size) {
  return clamp(places, 0, size - 1);
}

// The place in the input of each new element, as real numbers.
Value origins(const Call& call, const Line& line, const std::string& mode) {
  const Value x = real_line(line.new_size);
  // As the scale says, which may be no whole number.
  const Value wide = line.scale * line.size;
  const auto over_ends = [&](const Value& numerator, const Value& otherwise) {
    const Value last = wide - 1;
    if (last.is_number())
      return last.as_double() == 0 ? x * 0 + otherwise : numerator / last;
    return where(tensor_of(last) == 0, x * 0 + otherwise, numerator / last);
  };
  const bool plain = line.under.is_int() && line.under.as_int() == 1;
  const auto unscaled = [&](const Value& place) {
    return (plain ? place : place * line.under) / line.over;
  };
  const Value half = unscaled(x + 0.5) - 0.5;
  if (mode == "half_pixel") return half;
  if (mode == "asymmetric") return unscaled(x);
  if (mode == "align_corners") return over_ends(x * (line.size - 1), 0.0);
  if (mode == "pytorch_half_pixel") {
    if (wide.is_number()) return wide.as_double() == 1 ? x * 0 - 0.5 : half;
    return where(tensor_of(wide) == 1, x * 0 - 0.5, half);
  }
  if (mode == "half_pixel_symmetric")  // Counted from the middle.
    return unscaled(x + (0.5 - line.new_size / 2.0)) + (line.size - 1) / 2.0;
  if (mode == "tf_crop_and_resize") {
    const Value span = (line.roi_end - line.roi_begin) * (line.size - 1);
    return over_ends(x * span, span / 2.0) + line.roi_begin * (line.size - 1);
  }
  call.fail("coordinate_transformation_mode: \"" + mode + "\" is unknown");
}

// A number that is whole but for the rounding of a scale to a float is that
// whole number.
Value snapped(const Value& number) {
  constexpr double kRounding = 0x1p-23;
  const Value whole = round(number);
  const Value near = le(abs(number - whole), (abs(whole) + 1) * kRounding);
  return where(near, whole, number);
}

Value nearest_places(const Call& call, const Value& origin) {
  const std::string mode = nearest_mode(call);
  if (mode == "round_prefer_floor") return ceil(snapped(origin - 0.5));
  if (mode == "round_prefer_ceil") return floor(snapped(origin + 0.5));
  if (mode == "floor") return floor(snapped(origin));
  if (mode == "ceil") return ceil(snapped(origin));
  call.fail("nearest_mode: \"" + mode + "\" is unknown");
}

// Keys' cubic of the distances.
Value cubic(const Value& distance, double a) {
  const Value x = abs(distance);
  const Value near = ((a + 2) * x - (a + 3)) * x * x + 1;
  const Value far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return where(x <= 1, near, where(x < 2, far, zeros_like(x)));
}

// Weights of the neighbours at these distances, [new size, neighbours].
Value weights_of(const Call& call, const Value& distances, bool is_cubic,
                 bool normalised) {
  const Value weights =
      is_cubic ? cubic(distances, call.real("cubic_coeff_a", -0.75))
               : clamp(1 - abs(distances), 0.0, 1.0);
  return normalised ? weights / sum(weights, -1, true) : weights;
}

// The number or 0-d tensor as a plain number, or a proxy of one.
Value plain_number(const Call& call, const Value& number) {
  if (number.is_number()) return number;
  const Value example = Recorder::example(number);
  return example.is_number() ? number : call.item_of(number);
}

// A window around each origin: wider than the kernel where elements are merged.
Value neighbours(const Call& call, const Line& line, bool is_cubic,
                 Value& stretch) {
  const double reach = is_cubic ? 2 : 1;
  stretch = 1.0;
  Value first = 1 - reach, last = reach;
  if (call.flag("antialias", false)) {
    stretch = line.scale.is_number()
                  ? Value(std::min(line.scale.as_double(), 1.0))
                  : clamp(tensor_of(line.scale), None, 1.0);
    if (stretch.is_number()) {
      first = std::floor(-reach / stretch.as_double()) + 1;
      last = 1 - first.as_double();
    } else {
      first = plain_number(call, floor(-reach / stretch) + 1);
      last = 1 - first;
    }
  }
  return arange(first, last + 1, None, DType::f64);
}

}  // namespace

Sources sources_of(const Call& call, const Line& line, const std::string& mode,
                   const std::string& transform) {
  const Value origin = held(call, origins(call, line, transform));
  if (mode == "nearest") {
    const Value places = inside(nearest_places(call, origin), line.size);
    return {cast(call, places, DType::i64), {}, {}};
  }
  const bool is_cubic = mode == "cubic";
  Value stretch;
  const Value window = neighbours(call, line, is_cubic, stretch);
  // An origin on an element counts as the right end of its window, the first
  // of two equal neighbours.
  const Value base = ceil(origin) - 1;
  const Value places = unsqueeze(base, 1) + window;
  const Value distances = (places - unsqueeze(origin, 1)) * stretch;
  Value weights =
      weights_of(call, distances, is_cubic, call.flag("antialias", false));
  if (call.flag("exclude_outside", false)) {
    const Value outside = logical_or(places < 0, places >= line.size);
    weights = masked_fill(weights, outside, 0.0);
    weights = weights / sum(weights, -1, true);
  }
  Value off;
  if (transform == "tf_crop_and_resize")
    off = logical_or(origin < 0, gt(origin, line.size - 1));
  return {cast(call, inside(places, line.size), DType::i64), weights, off};
}

}  // namespace fxjit::onnx
