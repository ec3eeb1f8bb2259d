// Resize: every dim by itself, each new element a weighted sum of neighbours.
#include <cmath>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

// One dim. Numbers where they are known; else tensors and proxies.
struct Line {
  int64_t axis = 0;
  Value scale;  // A number, or a tensor of one.
  // The scale is this number over that one. Sizes stay whole numbers.
  Value over, under = 1;
  Value size, new_size;
  Value roi_begin, roi_end;
};

Value real_line(const Value& count) {
  return arange(count, None, None, DType::f64);
}

// A tensor of one number, which may be a proxy of a number.
Value tensor_of(const Value& number) {
  if (Recorder::example(number).is_tensor()) return number;
  return function("torch.scalar_tensor", {number}, {{"dtype", DType::f64}});
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

// Up to opset 10 places are rounded down.
std::string nearest_mode(const Call& call) {
  return call.text("nearest_mode",
                   call.opset() < 11 ? "floor" : "round_prefer_floor");
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

// Sums are made in a type that has parts behind the point and holds all numbers
// of the call, those of 64 bits up to 2^53.
DType sum_type(const Call& call) {
  const DType dtype = call.dtype(0);
  if (is_floating(dtype)) return dtype;
  return dtype_size(dtype) > 2 ? DType::f64 : DType::f32;
}

Value resize_line(const Call& call, const Value& x, const Line& line,
                  const std::string& mode, const std::string& transform) {
  const Value origin = held(call, origins(call, line, transform));
  if (mode == "nearest") {
    const Value places = inside(nearest_places(call, origin), line.size);
    return index_dim(x, line.axis, cast(call, places, DType::i64));
  }
  const bool is_cubic = mode == "cubic";
  Value stretch;
  const Value window = neighbours(call, line, is_cubic, stretch);
  // An origin on an element counts as the right end of its window, the first
  // of two equal neighbours.
  const Value base = ceil(origin) - 1;
  const Value places = unsqueeze(base, 1) + window;
  Value distances = (places - unsqueeze(origin, 1)) * stretch;
  Value weights =
      weights_of(call, distances, is_cubic, call.flag("antialias", false));
  if (call.flag("exclude_outside", false)) {
    const Value outside = logical_or(places < 0, places >= line.size);
    weights = masked_fill(weights, outside, 0.0);
    weights = weights / sum(weights, -1, true);
  }
  const Value taken = index_dim(
      x, line.axis, cast(call, inside(places, line.size), DType::i64));
  ValueList shape = {line.new_size, -1};
  for (int64_t d = line.axis + 1; d < call.rank(0); ++d) shape.emplace_back(1);
  const Value factors =
      reshape(cast(call, weights, sum_type(call)), Value::list(shape));
  Value y = sum(taken * factors, line.axis + 1);
  if (transform == "tf_crop_and_resize") {
    const Value off = logical_or(origin < 0, gt(origin, line.size - 1));
    ValueList along = {-1};
    along.insert(along.end(), shape.begin() + 2, shape.end());
    y = masked_fill(y, reshape(off, Value::list(along)),
                    call.real("extrapolation_value", 0));
  }
  return y;
}

// Input `i`, of a number for each of `axes`: numbers, or tensors of one.
std::vector<Value> numbers_of(const Call& call, size_t i, size_t count) {
  std::vector<Value> numbers;
  const auto known = call.known_floats(i);
  for (size_t d = 0; d < count; ++d)
    numbers.push_back(known ? Value(known->at(d))
                            : cast(call, select(call[i], 0, d), DType::f64));
  return numbers;
}

bool is_given(const Call& call, size_t i) {
  return call.has(i) &&
         !(call.sizes(i).size() == 1 && call.sizes(i)[0].is_int() &&
           call.sizes(i)[0].as_int() == 0);
}

// A real number without the part behind the point.
Value whole(const Call& call, const Value& number) {
  if (number.is_number())
    return static_cast<int64_t>(std::floor(number.as_double()));
  return call.item_of(cast(call, floor(tensor_of(number)), DType::i64));
}

// The size of a dim times a number, which stays a whole one where it can.
Value scaled_size(const Call& call, const Value& size, const Value& scale) {
  if (!size.is_int() && scale.is_number()) {
    const double factor = scale.as_double();
    if (factor == std::floor(factor) && factor < 1e9)
      return size * static_cast<int64_t>(factor);
  }
  return whole(call, scale * size);
}

// One scale for all dims, the smallest or largest that sizes ask for.
void keep_aspect(const Call& call, std::vector<Line>& lines) {
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  const bool smaller = policy == "not_larger";
  if (!smaller && policy != "not_smaller")
    call.fail("keep_aspect_ratio_policy: \"" + policy + "\" is unknown");
  Line chosen = lines[0];
  for (const Line& line : lines) {
    const bool known = chosen.scale.is_number() && line.scale.is_number();
    const Value less = line.scale < chosen.scale;
    if (known && smaller == less.as_bool()) chosen = line;
    if (known) continue;
    chosen.scale = smaller ? less * line.scale + (1 - less) * chosen.scale
                           : less * chosen.scale + (1 - less) * line.scale;
    chosen.over = chosen.scale;
    chosen.under = 1;
  }
  for (Line& line : lines) {
    line.scale = chosen.scale;
    line.over = chosen.over;
    line.under = chosen.under;
    line.new_size = whole(call, chosen.scale * line.size + 0.5);
  }
}

std::vector<Line> read_lines(const Call& call, size_t scales, size_t sizes,
                             size_t roi) {
  const int rank = call.rank(0);
  auto axes = call.integers("axes").value_or(dims_from(0, rank));
  for (int64_t& axis : axes) axis = call.wrap(axis, rank);
  std::vector<Line> lines(axes.size());
  for (size_t d = 0; d < axes.size(); ++d) {
    lines[d].axis = axes[d];
    lines[d].size = call.size(0, axes[d]);
  }
  if (is_given(call, sizes)) {
    const std::vector<Value> asked = call.ints(sizes);
    if (asked.size() != lines.size())
      call.fail("sizes: expected " + std::to_string(lines.size()));
    for (size_t d = 0; d < lines.size(); ++d) {
      lines[d].new_size = asked[d];
      lines[d].scale = asked[d] * 1.0 / lines[d].size;
      lines[d].over = asked[d];
      lines[d].under = lines[d].size;
    }
    keep_aspect(call, lines);
  } else if (is_given(call, scales)) {
    const std::vector<Value> asked = numbers_of(call, scales, lines.size());
    for (size_t d = 0; d < lines.size(); ++d) {
      lines[d].scale = lines[d].over = asked[d];
      lines[d].new_size = scaled_size(call, lines[d].size, asked[d]);
    }
  } else {
    call.fail("neither scales nor sizes are given");
  }
  if (roi > 0 && is_given(call, roi)) {
    const std::vector<Value> ends = numbers_of(call, roi, 2 * lines.size());
    for (size_t d = 0; d < lines.size(); ++d) {
      lines[d].roi_begin = ends[d];
      lines[d].roi_end = ends[d + lines.size()];
    }
  }
  return lines;
}

bool changes_nothing(const Line& line) {
  return line.roi_begin.is_none() && line.scale.is_number() &&
         line.scale.as_double() == 1 && line.new_size.is_int() &&
         line.size.is_int() && line.size.as_int() == line.new_size.as_int();
}

// torch multiplies by the scale's inverse, a float, which moves no place across
// a whole number for these scales.
bool is_exact(const Value& scale) {
  const double number = scale.as_double();
  return number == std::floor(number) && number <= 32;
}

// torch's function for what both have: planes resized alike, in the modes that
// exporters use.
std::optional<Value> by_torch(const Call& call, const std::vector<Line>& lines,
                              const std::string& mode,
                              const std::string& transform) {
  if (call.rank(0) != 4 || call.flag("antialias", false) ||
      call.flag("exclude_outside", false) || !is_floating(call.dtype(0)))
    return std::nullopt;
  Value sizes[2], scales[2];
  for (const Line& line : lines) {
    const bool plane = line.axis >= 2;
    if (!plane && !(line.scale.is_number() && line.scale.as_double() == 1))
      return std::nullopt;
    if (!plane) continue;
    if (!line.scale.is_number()) return std::nullopt;
    sizes[line.axis - 2] = line.new_size;
    scales[line.axis - 2] = line.scale;
  }
  if (sizes[0].is_none() || sizes[1].is_none()) return std::nullopt;
  const Value size = Value::list({sizes[0], sizes[1]});
  if (mode == "nearest" && transform == "asymmetric" &&
      nearest_mode(call) == "floor" && is_exact(scales[0]) &&
      is_exact(scales[1]))
    return function("torch.ops.aten.upsample_nearest2d.default",
                    {call[0], size, scales[0], scales[1]});
  const bool corners = transform == "align_corners";
  const bool halves =
      transform == "half_pixel" ||
      (transform == "pytorch_half_pixel" && sizes[0].is_int() &&
       sizes[1].is_int() && sizes[0].as_int() > 1 && sizes[1].as_int() > 1);
  if (!corners && !halves) return std::nullopt;
  if (mode == "linear")
    return function("torch.ops.aten.upsample_bilinear2d.default",
                    {call[0], size, corners, scales[0], scales[1]});
  if (mode == "cubic" && call.real("cubic_coeff_a", -0.75) == -0.75)
    return function("torch.ops.aten.upsample_bicubic2d.default",
                    {call[0], size, corners, scales[0], scales[1]});
  return std::nullopt;
}

// Cubic weights reach beyond the numbers that they are put on: small integers
// end at the last one that there is.
Value within(const Value& y, DType dtype) {
  if (dtype == DType::u8) return clamp(y, 0, 255);
  if (dtype == DType::i8) return clamp(y, -128, 127);
  if (dtype == DType::i16) return clamp(y, -32768, 32767);
  return y;
}

Value resize_by(const Call& call, const std::vector<Line>& lines,
                const std::string& mode, const std::string& transform) {
  if (const auto whole = by_torch(call, lines, mode, transform)) return *whole;
  const DType dtype = call.dtype(0);
  const bool sums = mode != "nearest";
  Value y = sums ? cast(call, call[0], sum_type(call)) : call[0];
  for (const Line& line : lines)
    if (!changes_nothing(line)) y = resize_line(call, y, line, mode, transform);
  return cast(call, sums ? within(y, dtype) : y, dtype);
}

Results resize(Call& call) {
  return resize_by(call, read_lines(call, 2, 3, 1),
                   call.text("mode", "nearest"),
                   call.text("coordinate_transformation_mode", "half_pixel"));
}

// Opset 10: scales only, and places by rounding down.
Value resize_down(Call& call, const std::vector<Line>& lines) {
  std::string mode = call.text("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  return resize_by(call, lines, mode, "asymmetric");
}

Results resize_10(Call& call) {
  return resize_down(call, read_lines(call, 1, 9, 0));
}

Results upsample(Call& call) {
  if (call.opset() >= 9) return resize_10(call);
  const auto scales = call.reals("scales");
  if (!scales || static_cast<int>(scales->size()) != call.rank(0))
    call.fail("attribute scales: expected one for each dim");
  std::vector<Line> lines;
  for (size_t d = 0; d < scales->size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    const Value size = call.size(0, axis);
    Line& line = lines.emplace_back();
    line.axis = axis;
    line.scale = line.over = (*scales)[d];
    line.size = size;
    line.new_size = scaled_size(call, size, (*scales)[d]);
  }
  return resize_down(call, lines);
}

constexpr OpRow kResizeOps[] = {
    {.op = "Resize", .since = 10, .run = resize_10},
    {.op = "Resize", .since = 11, .run = resize},
    {.op = "Upsample", .since = 7, .run = upsample},
};

}  // namespace

std::span<const OpRow> resize_rows() { return kResizeOps; }

}  // namespace fxjit::onnx
