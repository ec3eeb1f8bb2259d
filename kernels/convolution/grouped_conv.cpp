#include "kernels/convolution/grouped_conv.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "fxjit/error.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

#define FXJIT_LEVEL_CODE "kernels/convolution/grouped_loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

// Two places fill a vector that the channels of one leave half empty.
int64_t span_of(const std::array<ConvAxis, 3>& axes, int64_t channels,
                int64_t lanes) {
  const ConvAxis& width = axes[2];
  return 2 * channels <= lanes && width.stride == 1 && width.step == channels &&
                 width.places > 1
             ? 2
             : 1;
}

// Vectors at places before this one end in the input's row, with `idle` lanes
// that hold nothing.
int64_t readable_places(const ConvAxis& width, int64_t idle) {
  if (idle == 0) return width.size;
  // All places of a broadcast row lie where the first one does.
  if (width.step == 0) return 0;
  return width.size - support::ceil_div(idle, width.step);
}

}  // namespace

GroupedLanes::GroupedLanes(int64_t lanes, int64_t channels, int64_t inputs)
    : count(static_cast<int32_t>(lanes)) {
  const auto of = static_cast<int32_t>(channels);
  const auto in_group = static_cast<int32_t>(inputs);
  for (int32_t i = 0; i < kMost; ++i) {
    const bool used = i < count;
    place[i] = used ? i / of : std::numeric_limits<int32_t>::min() / 2;
    channel[i] = used ? i % of : 0;
    for (int32_t t = 0; t < kMost; ++t)
      turned[t][i] = used && t < in_group
                         ? i / in_group * in_group +
                               (i % in_group - t + in_group) % in_group
                         : 0;
  }
}

GroupedConv::GroupedConv(const ops::ConvParams& params, const Tensor& input,
                         const Tensor& weight, CpuLevel level)
    : RowConv(params, input, weight),
      lanes_(support::vector_lanes(level)),
      vector_channels_(std::min(lanes_ / inputs_ * inputs_, channels_)),
      vectors_(support::ceil_div(channels_, vector_channels_)),
      span_(span_of(axes_, channels_, lanes_)),
      used_(vector_channels_ * span_, vector_channels_, inputs_),
      readable_(readable_places(axes_[2], lanes_ - used_.count)) {}

// The last vector may take groups of the one before it again.
int64_t GroupedConv::first_channel(int64_t vector) const {
  return std::min(vector * vector_channels_, channels_ - vector_channels_);
}

int64_t GroupedConv::vector_floats() const { return taps() * inputs_ * lanes_; }

size_t GroupedConv::packed_bytes() const {
  return static_cast<size_t>(vectors_ * vector_floats()) * sizeof(float);
}

ShapeKey GroupedConv::packed_key() const {
  ShapeKey key = RowConv::packed_key();
  key.insert(key.end(), {lanes_, span_});
  return key;
}

void GroupedConv::pack(const float* weight, float* packed) const {
  for (int64_t v = 0; v < vectors_; ++v)
    for (int64_t d = 0; d < axes_[0].taps; ++d)
      for (int64_t h = 0; h < axes_[1].taps; ++h)
        for (int64_t t = 0; t < inputs_; ++t)
          for (int64_t w = 0; w < axes_[2].taps; ++w, packed += lanes_)
            pack_lanes(weight + first_channel(v) * output_weight_ +
                           d * axes_[0].weight_step + h * axes_[1].weight_step +
                           w * axes_[2].weight_step,
                       t, packed);
}

// The weight of each lane's input for the output `turn` channels further in its
// group, from the one of the vector's first channel for its first input.
void GroupedConv::pack_lanes(const float* weight, int64_t turn,
                             float* packed) const {
  std::fill_n(packed, lanes_, 0.0f);
  for (int64_t lane = 0; lane < used_.count; ++lane) {
    const int64_t channel = used_.channel[lane], input = channel % inputs_;
    const int64_t output = channel - input + (input + turn) % inputs_;
    packed[lane] = weight[output * output_weight_ + input * input_weight_];
  }
}

GroupedRow GroupedConv::vector_at(const Data& data, int64_t index,
                                  int64_t vector) const {
  const ConvAxis& width = axes_[2];
  const int64_t channel = first_channel(vector);
  GroupedRow row{row_at(data, index, channel),
                 &used_,
                 inputs_,
                 width.size,
                 readable_,
                 width.pad,
                 width.stride,
                 span_,
                 channels_};
  row.input += channel;
  row.weight += vector * vector_floats();
  row.ahead = ahead_of(data, index, vector, vectors_);
  return row;
}

void GroupedConv::run(const Data& data, int64_t begin, int64_t end) const {
  each_part(begin, end, vectors_, [&](int64_t row, int64_t vector) {
    at_level(data.level, vector_at(data, row, vector));
  });
}

}  // namespace fxjit::kernels
