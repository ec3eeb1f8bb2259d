#include "src/program/convolution/axis.h"

#include <algorithm>

#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;

void find_taps(ConvAxis& axis) {
  axis.inside.clear();
  for (int64_t i = 0; i < axis.places; ++i) {
    const int64_t begin = i * axis.stride - axis.pad;
    TapRange taps;
    taps.first = begin < 0 ? ceil_div(-begin, axis.dilation) : 0;
    taps.first = std::min(taps.first, axis.taps);
    taps.last =
        axis.size > begin ? ceil_div(axis.size - begin, axis.dilation) : 0;
    taps.last = std::clamp(taps.last, taps.first, axis.taps);
    axis.inside.push_back(taps);
  }
}

}  // namespace

std::array<ConvAxis, 3> conv_axes(const ops::ConvParams& params,
                                  const Tensor& input, const Tensor& weight) {
  std::array<ConvAxis, 3> axes;
  const int first = params.batched ? 2 : 1;
  for (int i = 0; i < params.spatial; ++i) {
    ConvAxis& axis = axes[static_cast<size_t>(3 - params.spatial + i)];
    axis.size = input.sizes()[first + i];
    axis.step = input.strides()[first + i];
    axis.places = params.output[2 + i];
    axis.taps = weight.sizes()[2 + i];
    axis.weight_step = weight.strides()[2 + i];
    axis.stride = params.stride[i];
    axis.dilation = params.dilation[i];
    axis.pad = params.pad_before[i];
    find_taps(axis);
  }
  return axes;
}

TapRange ConvAxis::whole_places() const {
  TapRange whole{places, places};
  for (int64_t i = places - 1; i >= 0; --i) {
    const TapRange& range = inside[static_cast<size_t>(i)];
    if (range.last - range.first < taps) continue;
    if (whole.first == places) whole.last = i + 1;
    whole.first = i;
  }
  return whole;
}

}  // namespace fxjit::program
