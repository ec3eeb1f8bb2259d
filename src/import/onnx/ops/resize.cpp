// Resize: every dim by itself, each new element a weighted sum of neighbours.
#include <cmath>
#include <utility>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/ops/resize_sources.h"

namespace fxjit::onnx {
namespace {

// Sums are made in a type that has parts behind the point and holds all numbers
// of the call, those of 64 bits up to 2^53.
DType sum_type(const Call& call) {
  const DType dtype = call.dtype(0);
  if (is_floating(dtype)) return dtype;
  return dtype_size(dtype) > 2 ? DType::f64 : DType::f32;
}

Value resize_line(const Call& call, const Value& x, const Line& line,
                  const Sources& from) {
  const Value taken = index_dim(x, line.axis, from.places);
  if (from.weights.is_none()) return taken;
  const auto before_the_rest = [&](Value part) {
    for (int64_t d = line.axis + 1; d < call.rank(0); ++d)
      part = unsqueeze(part, -1);
    return part;
  };
  const Value factors =
      before_the_rest(cast(call, from.weights, sum_type(call)));
  const Value y = sum(taken * factors, line.axis + 1);
  if (from.off.is_none()) return y;
  return masked_fill(y, before_the_rest(from.off),
                     call.real("extrapolation_value", 0));
}

// Dims whose sources are known, which one call resizes together.
class KnownDims {
 public:
  explicit KnownDims(const Call& call) : call_(call) {}

  bool add(const Line& line, const Sources& from) {
    const auto known = [&](const Value& value) {
      return value.is_none() || call_.recorder().constant_of(value) != nullptr;
    };
    if (!known(from.places) || !known(from.weights) || !from.off.is_none())
      return false;
    const bool sums = !from.weights.is_none();
    const DType dtype = sum_type(call_);
    dims_.emplace_back(line.axis);
    places_.push_back(sums ? transpose(from.places, 0, 1)
                           : unsqueeze(from.places, 0));
    weights_.push_back(
        sums ? transpose(cast(call_, from.weights,
                              dtype == DType::f64 ? dtype : DType::f32),
                         0, 1)
             : Value());
    return true;
  }

  // `x` with the dims resized that were added.
  Value resized(const Value& x) {
    if (dims_.empty()) return x;
    return function("fxjit.resample_dims",
                    {x, Value::tuple(std::exchange(dims_, {})),
                     Value::tuple(std::exchange(places_, {})),
                     Value::tuple(std::exchange(weights_, {}))});
  }

 private:
  const Call& call_;
  ValueList dims_, places_, weights_;
};

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
  KnownDims known(call);
  for (const Line& line : lines) {
    if (changes_nothing(line)) continue;
    const Sources from = sources_of(call, line, mode, transform);
    if (!known.add(line, from))
      y = resize_line(call, known.resized(y), line, from);
  }
  y = known.resized(y);
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
