// What lies in boxes: RoiAlign.
#include <algorithm>
#include <array>
#include <cmath>

#include "fxjit/error.h"
#include "fxjit/fx/target.h"
#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

bool is_half_pixel(const Call& call) {
  return call.text("coordinate_transformation_mode",
                   call.opset() < 16 ? "output_half_pixel" : "half_pixel") ==
         "half_pixel";
}

// --- As many samples as a region has elements: a loop over regions. ---

// One dim of a region: `bins` parts of this size from `begin` on, in each of
// which `samples` are read, of `extent` elements in all.
struct Side {
  double begin, size;
  int64_t samples, extent;

  // A sample's place, kept inside; nothing where it is outside.
  std::optional<double> place(int64_t bin, int64_t sample) const {
    const double at = begin + (static_cast<double>(bin) +
                               (static_cast<double>(sample) + 0.5) /
                                   static_cast<double>(samples)) *
                                  size;
    if (!(at >= -1.0) || at > static_cast<double>(extent)) return std::nullopt;
    return std::clamp(at, 0.0, static_cast<double>(extent - 1));
  }
};

Side side_of(double begin, double end, int64_t bins, int64_t extent,
             bool half) {
  const double length = half ? end - begin : std::max(end - begin, 1.0);
  const double size = length / static_cast<double>(bins);
  return {begin, size, static_cast<int64_t>(std::ceil(size)), extent};
}

// The four elements around a place, weighted: their sum, or the largest.
double interpolated(const float* plane, int64_t columns, int64_t rows, double y,
                    double x, bool largest) {
  const auto low_y = static_cast<int64_t>(y), low_x = static_cast<int64_t>(x);
  const int64_t high_y = std::min(low_y + 1, rows - 1);
  const int64_t high_x = std::min(low_x + 1, columns - 1);
  const double v = y - static_cast<double>(low_y);
  const double u = x - static_cast<double>(low_x);
  const auto at = [&](int64_t row, int64_t column) {
    return static_cast<double>(plane[row * columns + column]);
  };
  const double parts[] = {
      at(low_y, low_x) * (1 - v) * (1 - u), at(low_y, high_x) * (1 - v) * u,
      at(high_y, low_x) * v * (1 - u), at(high_y, high_x) * v * u};
  if (largest) return *std::max_element(std::begin(parts), std::end(parts));
  return parts[0] + parts[1] + parts[2] + parts[3];
}

// 0 for a part without samples; samples outside of the plane count as 0.
double pooled(const float* plane, const Side& y, const Side& x, int64_t row,
              int64_t column, bool largest) {
  double sum = 0;
  std::optional<double> most;
  for (int64_t i = 0; i < y.samples; ++i)
    for (int64_t j = 0; j < x.samples; ++j) {
      const auto at_y = y.place(row, i), at_x = x.place(column, j);
      const double value =
          at_y && at_x
              ? interpolated(plane, x.extent, y.extent, *at_y, *at_x, largest)
              : 0;
      sum += value;
      most = most ? std::max(*most, value) : value;
    }
  if (!most) return 0;
  return largest ? *most : sum / static_cast<double>(y.samples * x.samples);
}

// (input, regions, batch indices, rows, columns, scale, half, largest).
Value aligned_by_size(const ValueList& args, const Kwargs&) {
  const Tensor& given = args.at(0).as_tensor();
  const Tensor input = given.to(DType::f32).contiguous();
  const Tensor regions = args.at(1).as_tensor().to(DType::f64).contiguous();
  const std::vector<int64_t> batches = args.at(2).as_tensor().to_ints();
  const auto count = static_cast<int64_t>(batches.size());
  if (input.dim() != 4 || regions.dim() != 2 || regions.size(1) != 4 ||
      regions.size(0) != count || input.numel() == 0)
    throw RuntimeError(
        "[RoiAlign] expected planes [n, c, h, w], regions [k, 4] "
        "and k numbers, got " +
        given.describe() + " and " + regions.describe());
  const int64_t rows = args.at(3).as_int(), columns = args.at(4).as_int();
  const double scale = args.at(5).as_double();
  const bool half = args.at(6).as_bool(), largest = args.at(7).as_bool();
  const int64_t channels = input.size(1), plane = input.size(2) * input.size(3);
  const Tensor result = Tensor::empty({count, channels, rows, columns});
  float* out = result.data_as<float>();
  for (int64_t r = 0; r < count; ++r) {
    const int64_t batch = batches[static_cast<size_t>(r)];
    if (batch < 0 || batch >= input.size(0))
      throw RuntimeError("[RoiAlign] batch index " + std::to_string(batch) +
                         " is not one of " + std::to_string(input.size(0)));
    const double* const edge = regions.data_as<double>() + 4 * r;
    const double move = half ? 0.5 : 0;
    const Side y = side_of(edge[1] * scale - move, edge[3] * scale - move, rows,
                           input.size(2), half);
    const Side x = side_of(edge[0] * scale - move, edge[2] * scale - move,
                           columns, input.size(3), half);
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          *out++ = static_cast<float>(
              pooled(input.data_as<float>() + (batch * channels + c) * plane, y,
                     x, i, j, largest));
  }
  return result.to(given.dtype());
}

Results sampled_by_size(Call& call, int64_t rows, int64_t columns) {
  static const fx::Function& function =
      fx::define_function("fxjit.onnx.roi_align", aligned_by_size);
  const Value example = Recorder::example(call[0]);
  const Value regions = Recorder::example(call[1]);
  Value result;
  if (example.is_tensor() && regions.is_tensor())
    result = Tensor::meta({regions.as_tensor().size(0),
                           example.as_tensor().size(1), rows, columns},
                          call.dtype(0));
  return call.recorder().record_function(
      function,
      {call[0], call[1], call[2], rows, columns, call.real("spatial_scale", 1),
       is_half_pixel(call), call.text("mode", "avg") == "max"},
      result);
}

// --- As many samples as the node says: calls of torch's functions. ---

// Where samples lie along one dim of each region, [regions, samples], and
// between which elements.
struct Samples {
  Value low, high, share, outside;  // `share` is the part of `high`.
};

Samples samples_along(const Call& call, const Value& begin, const Value& size,
                      const Value& extent, int64_t bins, int64_t each) {
  const Tensor steps = Tensor::empty({bins * each});
  for (int64_t i = 0; i < bins * each; ++i)
    steps.data_as<float>()[i] =
        (static_cast<float>(i) + 0.5f) / static_cast<float>(each);
  const Value places =
      unsqueeze(begin, 1) + unsqueeze(size / static_cast<double>(bins), 1) *
                                call.recorder().constant(steps);
  Samples samples;
  samples.outside = logical_or((places < -1.0), (places > extent));
  const Value inside = clamp(places, 0.0);
  const Value last = extent - 1;
  const Value at = minimum(inside, full_like(inside, last));
  const Value low = floor(at);
  samples.share = at - low;
  samples.low = cast(call, low, DType::i64);
  samples.high = clamp(samples.low + 1, None, last);
  return samples;
}

Results roi_align(Call& call) {
  const int64_t rows = call.integer("output_height", 1);
  const int64_t columns = call.integer("output_width", 1);
  const int64_t each = call.integer("sampling_ratio", 0);
  if (rows < 1 || columns < 1) call.fail("output_height, output_width");
  if (each < 1) return sampled_by_size(call, rows, columns);
  const bool half = is_half_pixel(call);
  const Value regions =
      call[1] * call.real("spatial_scale", 1) - (half ? 0.5 : 0.0);
  const auto edge = [&](int64_t i) { return select(regions, 1, i); };
  const auto span = [&](int64_t i) {
    const Value size = edge(i + 2) - edge(i);
    return half ? size : clamp(size, 1.0);
  };
  const Samples y =
      samples_along(call, edge(1), span(1), call.size(0, 2), rows, each);
  const Samples x =
      samples_along(call, edge(0), span(0), call.size(0, 3), columns, each);
  const Value batch =
      unsqueeze(unsqueeze(cast(call, call[2], DType::i64), -1), -1);
  // [regions, y, x, channels] of one corner of each sample's square.
  const auto corner = [&](const Value& at_y, const Value& at_x,
                          const Value& share_y, const Value& share_x) {
    const Value taken = function(
        "torch.ops.aten.index.Tensor",
        {call[0],
         Value::list({batch, None, unsqueeze(at_y, 2), unsqueeze(at_x, 1)})});
    return taken * unsqueeze(unsqueeze(share_y, 2) * unsqueeze(share_x, 1), -1);
  };
  const std::array<Value, 4> parts = {
      corner(y.low, x.low, 1 - y.share, 1 - x.share),
      corner(y.low, x.high, 1 - y.share, x.share),
      corner(y.high, x.low, y.share, 1 - x.share),
      corner(y.high, x.high, y.share, x.share)};
  const bool largest = call.text("mode", "avg") == "max";
  Value sampled = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    sampled = largest ? maximum(sampled, parts[i]) : sampled + parts[i];
  const Value outside = unsqueeze(
      logical_or(unsqueeze(y.outside, 2), unsqueeze(x.outside, 1)), -1);
  sampled = masked_fill(sampled, outside, 0.0);
  const Value bins = reshape(permute(sampled, {0, 3, 1, 2}),
                             Value::list({call.size(1, 0), call.size(0, 1),
                                          rows, each, columns, each}));
  const Value inner = Value::list({3, 5});
  return largest ? amax(bins, inner) : mean(bins, inner);
}

constexpr OpRow kRegionsOps[] = {
    {.op = "RoiAlign", .since = 10, .run = roi_align},
};

}  // namespace

std::span<const OpRow> region_rows() { return kRegionsOps; }

}  // namespace fxjit::onnx
