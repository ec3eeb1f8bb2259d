#include "src/program/convolution/rules.h"

#include "src/program/convolution/planes.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// Whether the input is of f32 with channels innermost.
bool is_last(const ops::ConvParams& params, const Tensor& input) {
  return input.dtype() == DType::f32 &&
         input.strides()[params.batched ? 1 : 0] == 1 &&
         numel(params.output) > 0 && input.numel() > 0;
}

// Whether masks can count places in 32 bits, and sizes of planes in 64; windows
// without taps need no planes.
bool has_small_dims(const ops::ConvParams& params, const Tensor& input,
                    const Tensor& weight) {
  constexpr int64_t kMostPlaces = int64_t{1} << 29;
  constexpr int64_t kMostReach = int64_t{1} << 16;
  const int first = params.batched ? 2 : 1;
  for (int i = 0; i < params.spatial; ++i)
    if (input.sizes()[first + i] > kMostPlaces ||
        params.pad_before[i] > kMostPlaces ||
        params.stride[i] > kMostPlaces / params.output[2 + i] ||
        weight.sizes()[2 + i] == 0 ||
        weight.sizes()[2 + i] > kMostReach / params.dilation[i])
      return false;
  return true;
}

// Whether planes do better than sums that are turned, or than the library's
// code: measured (docs/decisions/grouped_convolutions.md). With a stride of two
// there is four times as much to turn.
bool suits_planes(const ops::ConvParams& params, int64_t channels,
                  CpuLevel level) {
  constexpr int64_t kFewChannels = 12, kFewInPlace = 16;
  const bool strides = params.stride.back() > 1;
  // Below AVX-512 the library's code is better with more channels.
  if (channels > kMostTurnedChannels)
    return level == CpuLevel::avx512 || channels <= kFewChannels;
  if (level == CpuLevel::avx512) return channels > 4 && !strides;
  return channels > 4 ||
         (channels == 4 && params.output[1] >= kFewInPlace && !strides);
}

}  // namespace

CallCode last_convolution_code(const ops::ConvParams& params,
                               const Tensor& input, const Tensor& weight,
                               CpuLevel level) {
  if (is_grouped_last(params, input, weight)) {
    if (has_planes(params, input, weight, level))
      return CallCode::planar_groups;
    return has_turned_sums(weight, level) ? CallCode::grouped_convolution
                                          : CallCode::convolution;
  }
  return is_image_convolution(params, input, weight)
             ? CallCode::image_convolution
             : CallCode::convolution;
}

bool is_grouped_last(const ops::ConvParams& params, const Tensor& input,
                     const Tensor& weight) {
  return ops::has_small_groups(params, weight) && is_last(params, input);
}

bool has_planes(const ops::ConvParams& params, const Tensor& input,
                const Tensor& weight, CpuLevel level) {
  constexpr int64_t kMostBytes = int64_t{1} << 20;
  const int64_t channels = weight.sizes()[1];
  if (level == CpuLevel::sse41 || !suits_planes(params, channels, level) ||
      !has_small_dims(params, input, weight))
    return false;
  const PlaneLayout layout(
      conv_axes(params, input, weight),
      groups_of_part(params.output[1], channels) * channels,
      support::vector_lanes(level));
  // Others have loops that turn sums.
  return layout.plane_floats() * int64_t{sizeof(float)} + layout.mask_bytes() <=
             kMostBytes &&
         (channels > kMostTurnedChannels || layout.is_efficient());
}

bool has_turned_sums(const Tensor& weight, CpuLevel level) {
  // Vectors of four floats have no instructions for masks and permutations.
  return level != CpuLevel::sse41 && weight.sizes()[1] <= kMostTurnedChannels;
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

}  // namespace fxjit::program
