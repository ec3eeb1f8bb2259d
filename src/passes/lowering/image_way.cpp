#include "src/passes/lowering/image_way.h"

#include <algorithm>

#include "src/passes/channels_last.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/passes/lowering/window_combine.h"

namespace fxjit::passes {
namespace {

// A convolution with what is asked of it again and again.
struct Conv {
  const ops::ConvParams& params;
  Tensor input, weight;
  Dims taps;
  bool planes;  // Whether this level reads planes and gathers windows.
};

bool all_equal(const Dims& dims, Size value) {
  return std::ranges::all_of(dims, [&](Size d) { return d == value; });
}

// A product of each place's channels with the weights.
bool is_pointwise(const Conv& c) {
  return !c.params.transposed && c.params.groups == 1 && all_equal(c.taps, 1) &&
         all_equal(c.params.pad_before, 0) && all_equal(c.params.pad_after, 0);
}

// ---- Windows.

// Taps of windows over planes.
constexpr int64_t kMostPlaneTaps = 24, kMostPlaneElements = 49;

// Whether the input is images or volumes, in planes whose columns lie side by
// side, and windows have enough places in a row: fewer leave lanes of vectors
// empty.
bool are_planes(const Tensor& input, const Dims& output) {
  constexpr int64_t kLeastColumns = 8;
  return input.dtype() == DType::f32 && input.dim() > 3 &&
         input.stride(-1) == 1 && !is_channels_last(input) &&
         output[output.size() - 1] >= kLeastColumns;
}

// Whether the loops over planes suit the window: elements that are more than
// two apart are gathered, and each tap of a large window is read by itself.
bool suits_planes(const Dims& taps, const Dims& stride, int64_t most_taps) {
  constexpr int64_t kMostStride = 2;
  return numel(taps) <= most_taps && stride[stride.size() - 1] <= kMostStride;
}

// Whether planes are turned on the way.
bool suits_turned_planes(const Conv& c) {
  constexpr int64_t kLanes = 8;
  return c.params.spatial == 2 && c.params.output[1] == c.input.size(1) &&
         c.input.size(1) >= kLanes && c.input.size(-1) >= kLanes &&
         numel(c.taps) >= kLeastTurnedTaps &&
         suits_planes(c.taps, c.params.stride, kMostProductTaps);
}

// Dense convolutions over planes with few channels and results: a product has
// too short rows and too few columns for them.
bool is_small(const Conv& c) {
  constexpr int64_t kMostFeatures = 8, kMostOfOne = 64;
  // A kernel has all taps one after the other: 27 take 80 ms to compile, 60
  // take 160, which few features do not bring in.
  constexpr int64_t kMostTaps = 36, kMostTapsOfOne = 75;
  const Size channels = c.weight.size(1);
  const bool large = channels == 1 && numel(c.taps) >= kLeastTurnedTaps;
  const int64_t most = large ? kMostOfOne : kMostFeatures;
  const int64_t most_taps = large ? kMostTapsOfOne : kMostTaps;
  return !c.params.transposed && c.params.groups == 1 &&
         c.params.spatial == 2 && numel(c.taps) > 1 && channels > 0 &&
         c.weight.size(0) <= most && are_planes(c.input, c.params.output) &&
         suits_planes(c.taps, c.params.stride, most_taps / channels);
}

// One filter for each result, of a channel of its own.
bool has_own_channels(const Conv& c) {
  return !c.params.transposed && c.params.groups > 1 &&
         c.params.groups == c.input.size(1) && c.weight.size(1) == 1 &&
         numel(c.taps) > 0;
}

// Whether vectors of results that lie side by side have all results of their
// channels, whatever the level.
bool suits_lanes(const Conv& c) {
  constexpr int64_t kWidest = 16;
  const int64_t channels = c.input.size(1), results = c.params.output[1];
  return results == channels ||
         (results >= kWidest &&
          (results == 2 * channels || results == 4 * channels));
}

ImageWay way_of_own_channels(const Conv& c) {
  if (c.planes && are_planes(c.input, c.params.output) &&
      (suits_planes(c.taps, c.params.stride, kMostPlaneTaps) ||
       suits_turned_planes(c)))
    return ImageWay::filter_planes;
  return suits_lanes(c) && numel(c.taps) <= kMostProductTaps &&
                 (c.params.spatial > 1 || is_channels_last(c.input))
             ? ImageWay::filter_channels
             : ImageWay::none;
}

// One filter for each channel of [N, C, L].
bool is_filter_line(const Conv& c) {
  return c.params.spatial == 1 && !c.params.transposed &&
         c.params.groups == c.weight.size(0) && c.weight.size(1) == 1;
}

// Windows that sum the channels of a group. The loops of kernels/convolution
// are faster for images of fewer channels, products over windows for those of
// more.
constexpr int64_t kMostOfGroup = 16, kFewestOfImage = 5, kMostOfImage = 15;

bool suits_groups(const Conv& c) {
  const int64_t channels = c.weight.size(1);
  if (c.params.transposed || channels == 0 || numel(c.taps) == 0) return false;
  // Filters of one channel have windows of their own.
  if (channels == 1 && c.params.output[1] == c.params.groups) return false;
  // The narrowest vectors have four floats.
  constexpr int64_t kFewestResults = 4;
  if (c.params.output[1] < kFewestResults) return false;
  return c.params.groups > 1
             ? channels <= kMostOfGroup
             : channels >= kFewestOfImage && channels <= kMostOfImage;
}

// ---- Products.

// Whether the windows of a line are runs of memory, and the weights can be put
// in their order once.
bool are_line_rows(const GraphBuilder& b, const Conv& c, const Value& weight) {
  if (c.params.spatial != 1 || c.params.transposed || c.params.groups != 1 ||
      c.params.dilation[0] != 1 || c.params.pad_before[0] != 0 ||
      c.params.pad_after[0] != 0 || !b.constant_of(weight))
    return false;
  const Size channels = c.input.size(1);
  return channels == 1
             ? c.input.stride(2) == 1
             : c.input.stride(1) == 1 && c.input.stride(2) == channels;
}

// Whether the image lies in planes that a product can read as the rows of a
// matrix: places dense, and enough of them that a last panel of columns that is
// not full costs little.
bool suits_plane_product(const Conv& c) {
  constexpr int64_t kLeastPlaces = 192;
  const int rank = c.input.dim();
  Size places = 1;
  for (int d = 2; d < rank; ++d) places *= c.input.size(d);
  return c.planes && c.params.spatial >= 1 && all_equal(c.params.stride, 1) &&
         !is_channels_last(c.input) && c.input.stride(-1) == 1 &&
         uniform_stride(c.input.sizes(), c.input.strides(), 2, rank) == 1 &&
         places >= kLeastPlaces;
}

// With shorter runs of memory the loop over one of them is too short.
bool has_long_runs(const Conv& c) {
  constexpr int64_t kShortestRun = 16;
  const Size taps =
      are_runs(c.params, c.input, c.weight) ? c.taps.back() : Size(1);
  return c.input.size(1) * taps >= kShortestRun;
}

// What no skeleton computes better, by the first reason.
ImageWay way_without_skeleton(const GraphBuilder& b, const Conv& c,
                              const Value& weight) {
  if (c.params.transposed) return ImageWay::transposed;
  if (has_own_channels(c))
    return numel(c.taps) > kMostProductTaps ? ImageWay::many_taps
                                            : ImageWay::odd_groups;
  if (c.params.groups > 1)
    return c.weight.size(1) > kMostOfGroup ? ImageWay::wide_groups
                                           : ImageWay::odd_groups;
  if (is_image_convolution(c.params, c.input, c.weight))
    return ImageWay::image_loops;
  if (!c.planes) return ImageWay::other_level;
  return has_long_runs(c) && !b.constant_of(weight) ? ImageWay::changing_weights
                                                    : ImageWay::short_runs;
}

}  // namespace

Dims taps_of(const ops::ConvParams& params, const Tensor& weight) {
  Dims taps;
  for (int i = 0; i < params.spatial; ++i) taps.push_back(weight.size(2 + i));
  return taps;
}

bool are_runs(const ops::ConvParams& params, const Tensor& input,
              const Tensor& weight) {
  const int last = params.spatial - 1;
  return weight.size(-1) > 1 && params.pad_before[last] == 0 &&
         params.pad_after[last] == 0 && params.dilation[last] == 1 &&
         input.stride(1) == 1 && input.stride(-1) == input.size(1);
}

bool is_image_convolution(const ops::ConvParams& params, const Tensor& input,
                          const Tensor& weight) {
  // With more, vectors of channels do better.
  constexpr int64_t kMostChannels = 4;
  // Where the library's code for whole blocks of features does better.
  constexpr int64_t kManyFeatures = 32, kManyTaps = 64;
  if (params.output[1] >= kManyFeatures &&
      weight.numel() >= kManyTaps * params.output[1])
    return false;
  return params.batched && !params.transposed && params.groups == 1 &&
         weight.sizes()[1] <= kMostChannels &&
         params.output[1] >= kLeastImageFeatures &&
         input.dtype() == DType::f32 && weight.dtype() == DType::f32 &&
         numel(params.output) > 0 && input.numel() > 0;
}

ImageWay conv_way(GraphBuilder& b, const ops::ConvParams& params,
                  const ValueList& args) {
  const Tensor weight = val_of(args[1]);
  const Conv c{params, val_of(args[0]), weight, taps_of(params, weight),
               b.options().lowering->plane_windows};
  if (pays_by_turns(b, params, args)) return ImageWay::by_turns;
  if (c.planes && is_small(c)) return ImageWay::few_planes;
  if (has_own_channels(c))
    if (const ImageWay way = way_of_own_channels(c); way != ImageWay::none)
      return way;
  if (are_line_rows(b, c, args[1])) return ImageWay::line_rows;
  if (is_filter_line(c)) return ImageWay::shifted_views;
  if (is_pointwise(c))
    return suits_plane_product(c) ? ImageWay::element_planes
                                  : ImageWay::element_channels;
  if (pays_winograd(b, params, args[1])) return ImageWay::winograd;
  if (suits_groups(c))
    return params.groups > 1 ? ImageWay::narrow_groups : ImageWay::narrow_image;
  // oneDNN's direct convolutions take a tenth of the time more.
  if (c.planes && !params.transposed && params.groups == 1 &&
      params.spatial >= 1 && b.constant_of(args[1]) && has_long_runs(c))
    return ImageWay::window_rows;
  return way_without_skeleton(b, c, args[1]);
}

ImageWay pool_way(const GraphBuilder& b, const Tensor& input,
                  const Dims& output, const Dims& taps, const Dims& stride) {
  return b.options().lowering->plane_windows && are_planes(input, output) &&
                 suits_planes(taps, stride, kMostPlaneElements)
             ? ImageWay::pool_planes
             : ImageWay::pool_channels;
}

}  // namespace fxjit::passes
