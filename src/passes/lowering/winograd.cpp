// 3x3 convolutions by Winograd's minimal filtering, where that is less work.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/ops/eager/convolution.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/passes/lowering/winograd_tile.h"
#include "src/tensor/sizes/decision.h"

namespace fxjit::passes {
namespace {

// ---- What a convolution costs, in multiply-adds of 16 floats.

// Fewest channels and features: vectors are full, and the transforms are few
// beside the products.
constexpr int64_t kChannels = 16;
// Direct sums that cost up to this much of Winograd's are taken: they need less
// memory and round less.
constexpr double kWorthIt = 0.85;
// Bytes of weights that come from memory in the time of one multiply-add.
constexpr double kBytesPerStep = 6;

struct Sizes {
  double images, rows, columns, channels, features;
};

// Taps that fall on padding are not computed.
double direct_cost(const Sizes& s) {
  const double taps =
      (3 - 2 / std::max(1.0, s.rows)) * (3 - 2 / std::max(1.0, s.columns));
  const double weights = 9 * 4 * s.channels * s.features;
  return std::max(
      s.images * s.rows * s.columns * taps * s.channels * s.features / 16,
      weights / kBytesPerStep);
}

// Transforms of a tile's inputs and sums for 16 channels and 16 features, as
// measured, and the products, which are a little less even than direct ones.
double winograd_work(const Sizes& s, int64_t tile) {
  const double input = tile == 4 ? 200 : 65, output = tile == 4 ? 160 : 55;
  constexpr double kUneven = 1.05;
  const auto size = static_cast<double>(tile);
  const double frequencies = (size + 2) * (size + 2);
  const double tiles =
      s.images * std::ceil(s.rows / size) * std::ceil(s.columns / size);
  const double products = frequencies * s.channels * s.features / 16 * kUneven;
  return tiles *
         (products + s.channels / 16 * input + s.features / 16 * output);
}

double winograd_cost(const Sizes& s, int64_t tile) {
  const auto points = static_cast<double>(tile + 2);
  const double weights = points * points * 4 * s.channels * s.features;
  return std::max(winograd_work(s, tile), weights / kBytesPerStep);
}

int64_t best_tile(const Sizes& s) {
  return winograd_cost(s, 2) < winograd_cost(s, 4) ? 2 : 4;
}

// Of images, rows, columns, channels and features.
Sizes sizes_of(std::span<const int64_t> s) {
  const auto real = [&](size_t i) { return static_cast<double>(s[i]); };
  return {real(0), real(1), real(2), real(3), real(4)};
}

// Of the sizes of winograd_tile().
int64_t is_worth_it(std::span<const int64_t> sizes) {
  const Sizes s = sizes_of(sizes);
  return winograd_cost(s, best_tile(s)) < kWorthIt * direct_cost(s) ? 1 : 0;
}

// Of the sizes of winograd_tile() and LowerOptions::byte_speed. Products of
// pairs of 16 bits take as long as those of quads of 8 bits with what these
// need beside, where one instruction does not do both. Of the 32 bytes of
// weights a few arrive meanwhile.
int64_t pays_for_integers(std::span<const int64_t> numbers) {
  constexpr double kBytesPerProducts = 2.5;
  const Sizes s = sizes_of(numbers);
  const double filters = s.channels * s.features;
  const double direct = s.images * s.rows * s.columns * 9 * filters / 16 /
                        static_cast<double>(numbers[5]);
  return winograd_work(s, 2) + 32 * filters / kBytesPerProducts <
         kWorthIt * direct;
}

bool all_are(const Dims& dims, Size value) {
  return std::all_of(dims.begin(), dims.end(),
                     [&](Size d) { return d == value; });
}

bool has_transform(const ops::ConvParams& params, const Tensor& weight) {
  return params.spatial == 2 && !params.transposed && params.groups == 1 &&
         all_are(params.stride, 1) && all_are(params.dilation, 1) &&
         weight.size(2) == 3 && weight.size(3) == 3 &&
         weight.size(0) >= kChannels && weight.size(1) >= kChannels;
}

// Pairs of channels fill a vector of every level, and four times the sums are
// in the range of i32.
bool has_integer_transform(const Tensor& filter) {
  constexpr int64_t kFewest = 32;
  constexpr int64_t kMost =
      std::numeric_limits<int32_t>::max() / (4 * 9 * 255 * 128);
  const int64_t channels = filter.size(1);
  return filter.dtype() == DType::i8 && filter.size(2) == 3 &&
         filter.size(3) == 3 && filter.size(0) >= kChannels &&
         channels >= kFewest && channels <= kMost && channels % 2 == 0;
}

}  // namespace

int64_t winograd_tile(std::span<const int64_t> sizes) {
  return best_tile(sizes_of(sizes));
}

Value lower_integer_winograd(GraphBuilder& b, const Value& image,
                             const Value& weight, const Dims& before,
                             const Dims& after, int64_t outside) {
  const Tensor filter = val_of(weight), t = val_of(image);
  if (b.options().lowering->direct_convolutions ||
      !has_integer_transform(filter))
    return {};
  const Size rows = t.size(1) + before[0] + after[0] - 2;
  const Size columns = t.size(2) + before[1] + after[1] - 2;
  const bool pays =
      decided("whether a convolution of integers is transformed",
              pays_for_integers,
              {t.size(0), rows, columns, filter.size(1), filter.size(0),
               b.options().lowering->byte_speed}) != 0;
  if (!pays) return {};
  const GraphBuilder::WayScope scope(b, ImageWay::winograd);
  return b.call(winograd_op(), {image, weight, before, after, outside});
}

bool pays_winograd(const GraphBuilder& b, const ops::ConvParams& params,
                   const Value& weight) {
  const Tensor filter = val_of(weight);
  if (b.options().lowering->direct_convolutions || !b.is_constant(weight) ||
      filter.dtype() != DType::f32 || !has_transform(params, filter))
    return false;
  const Dims& out = params.output;
  return decided("whether a convolution is computed by Winograd's transforms",
                 is_worth_it,
                 {out[0], out[2], out[3], filter.size(1), filter.size(0)}) != 0;
}

Value lower_winograd(GraphBuilder& b, const ops::ConvParams& params,
                     const Value& input, const Value& weight) {
  Value last = call(b, "permute", {input, Dims{0, 2, 3, 1}});
  if (val_of(last).stride(3) != 1) last = b.call(materialize_op(), {last});
  return b.call(winograd_op(),
                {last, weight, params.pad_before, params.pad_after, 0});
}

}  // namespace fxjit::passes
