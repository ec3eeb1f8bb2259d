#include "kernels/convolution/wide_groups.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "fxjit/error.h"
#include "kernels/convolution/grouped_conv.h"

#define FXJIT_LEVEL_CODE "kernels/convolution/wide_groups_loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

bool WideGroups::fits(const Tensor& weight, CpuLevel level) {
  return level == CpuLevel::avx512 && weight.sizes()[1] > GroupedConv::kMost;
}

int64_t WideGroups::group_floats() const {
  return taps() * inputs_ * WideGroupRow::kLanes;
}

size_t WideGroups::packed_bytes() const {
  return static_cast<size_t>(channels_ / inputs_ * group_floats()) *
         sizeof(float);
}

ShapeKey WideGroups::packed_key() const {
  ShapeKey key = RowConv::packed_key();
  key.push_back(WideGroupRow::kLanes);
  return key;
}

void WideGroups::pack(const float* weight, float* packed) const {
  std::fill_n(packed, channels_ / inputs_ * group_floats(), 0.0f);
  const auto& [depth, height, width] = axes_;
  for (int64_t first = 0; first < channels_; first += inputs_)
    for (int64_t d = 0; d < depth.taps; ++d)
      for (int64_t h = 0; h < height.taps; ++h)
        for (int64_t w = 0; w < width.taps; ++w)
          for (int64_t t = 0; t < inputs_; ++t, packed += WideGroupRow::kLanes)
            for (int64_t c = 0; c < inputs_; ++c)
              packed[c] =
                  weight[(first + c) * output_weight_ + t * input_weight_ +
                         d * depth.weight_step + h * height.weight_step +
                         w * width.weight_step];
}

WideGroupRow WideGroups::group_at(const Data& data, int64_t index,
                                  int64_t group) const {
  const ConvAxis& width = axes_[2];
  const int64_t channel = group * inputs_;
  WideGroupRow row{row_at(data, index, channel),
                   inputs_,
                   width.size,
                   width.pad,
                   width.stride,
                   channels_};
  row.input += channel;
  row.weight += group * group_floats();
  row.ahead = ahead_of(data, index, group, channels_ / inputs_);
  return row;
}

void WideGroups::run(const Data& data, int64_t begin, int64_t end) const {
  each_part(begin, end, channels_ / inputs_, [&](int64_t row, int64_t group) {
    at_level(data.level, group_at(data, row, group));
  });
}

}  // namespace fxjit::kernels
