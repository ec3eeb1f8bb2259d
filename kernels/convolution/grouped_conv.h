// Convolutions of f32 images in groups of few channels, with channels
// innermost, in plain C++ vectors. Nothing is copied, and the elementwise work
// that follows is done while the sums are in registers.
//
// The lanes of a vector are the channels of several groups, or of two places if
// a place has few. No data moves between lanes while sums are made. A group of
// n inputs has n sums: in the lane of an input, sum t has what that input
// contributes to the output t channels further on (wrapping around in the
// group). At the end the sums are rotated by t lanes and added up.
#pragma once

#include <cstdint>

#include "kernels/convolution/row_conv.h"

namespace fxjit::kernels {

// What each lane of a vector holds. Lanes that hold nothing come last.
struct GroupedLanes {
  static constexpr int kMost = 16;

  // `count` lanes hold count / channels places of `channels` channels each, in
  // groups of `group` channels.
  GroupedLanes(int64_t count, int64_t channels, int64_t group);

  int32_t count;
  // For each lane, the distance of its place from the vector's first one
  // (negative if the lane holds nothing), and its channel.
  int32_t place[kMost], channel[kMost];
  // turned[t][lane]: the lane whose sum t belongs to the channel of `lane`.
  int32_t turned[kMost][kMost];
};

// A row of places. Windows have three adjacent taps along the width and any
// number along the height; at each end of the row at most one tap lies outside
// of the image. Input, bias, output and work start at the vector's first
// channel. Weights are [depth, height, t, 3, lanes of the level].
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
  // For the convolutions of which program::has_turned_sums() is true. Tensors
  // may be meta.
  GroupedConv(const ops::ConvParams& params, const Tensor& input,
              const Tensor& weight, CpuLevel level = host_cpu_level());

  // Computes rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Bytes of the packed weights of all vectors of channels, laid out as
  // GroupedRow says.
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
