// Convolutions of f32 images in groups of few channels, channels innermost, in
// plain C++ vectors: no copies, the elementwise work behind done while sums are
// in registers. Lanes of a vector are the channels of several groups, or of
// several places where one has few. Nothing moves between lanes while sums are
// made: for n inputs of a group there are n sums, of which sum t has in each
// lane what that lane's input gives to the output t channels further, and which
// are turned and added up at the end.
#pragma once

#include <cstdint>

#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

// What the lanes of a vector are; lanes that hold nothing are last.
struct GroupedLanes {
  static constexpr int kMost = 16;

  // `count` lanes hold `channels` channels of count / channels places, in
  // groups of `group` channels.
  GroupedLanes(int64_t count, int64_t channels, int64_t group);

  int32_t count;
  // For each lane its place after the vector's first one, negative where it
  // holds nothing, and its channel.
  int32_t place[kMost], channel[kMost];
  // The lane whose sum t is of this lane's channel.
  int32_t turned[kMost][kMost];
};

// Windows of three taps of the width, one position apart, and of any height;
// at each end at most one tap lies outside of the image. Input, bias, output
// and work start at the vector's first channel. Weights are
// [depth, height, t, 3, lanes of the level].
struct GroupedRow : ConvRow {
  const GroupedLanes* lanes = nullptr;
  int64_t inputs = 0;    // Channels of a group.
  int64_t size = 0;      // Places of the input's row.
  int64_t readable = 0;  // The first of them, where whole vectors can be read.
  int64_t pad = 0;       // Positions before them, 0 or 1.
  int64_t stride = 1;    // 1 or 2.
  int64_t span = 1;      // Places of a vector: 1, or 2 of stride 1.
  int64_t output_step = 0;  // From place to place.
};

class GroupedConv : public RowConv {
 public:
  static constexpr weights::Reader kReader =
      weights::Reader::grouped_convolution;
  // For convolutions in groups that program::has_turned_sums() tells; tensors
  // may be meta.
  GroupedConv(const ops::ConvParams& params, const Tensor& input,
              const Tensor& weight, CpuLevel level = host_cpu_level());

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights of each vector of channels, as GroupedRow has them.
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  void pack_lanes(const float* weight, int64_t turn, float* packed) const;
  GroupedRow vector_at(const Data& data, int64_t index, int64_t vector) const;
  int64_t first_channel(int64_t vector) const;
  int64_t vector_floats() const;  // Of packed weights.

  int64_t lanes_;            // Of the level's vectors.
  int64_t vector_channels_;  // Those of whole groups.
  int64_t vectors_;          // For all channels of a place.
  int64_t span_;             // Places of a vector.
  GroupedLanes used_;
  int64_t readable_;  // See GroupedRow.
};

}  // namespace fxjit::kernels
