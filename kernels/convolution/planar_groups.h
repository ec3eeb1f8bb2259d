// Convolutions of f32 images in groups of four to sixteen channels, with
// channels innermost, in plain C++ vectors. The part of the image that a tile
// of the output reads is first transposed into planes, one for each channel, so
// that lanes are places. Each input is then multiplied by one weight for each
// output, and no lane is idle whatever the number of channels. At the end the
// sums are transposed back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/convolution/row_conv.h"
#include "src/program/convolution/planes.h"
#include "src/support/rounding.h"

namespace fxjit::kernels {

using program::PlaneLayout;
using program::PlaneTaps;

// A run of places of one slice of the output, and the lanes that each tap
// reads.
struct PlaneTile {
  struct Vector {
    int64_t place;  // Its first one, from the tile's first.
    uint16_t used;  // Lanes.
  };

  int64_t vectors() const {
    return support::ceil_div((rows - 1) * layout->pitch + columns,
                             layout->lanes);
  }

  // Where the first place lies in a plane, in floats from the plane's
  // beginning, which is the first row that is read.
  int64_t origin() const {
    const int64_t before = std::max<int64_t>(0, -layout->height.least);
    return std::min(row, before) * layout->pitch;
  }

  const PlaneLayout* layout;
  Vector* lanes;     // [vectors]
  std::byte* masks;  // [vectors, height, width]
  int64_t row = 0, rows = 0, column = 0, columns = 0;
};

// Some groups of one tile. `input` points to the first place of the slice that
// tap 0 of the depth sees, or would see if it were in the image; output and
// work point to the tile's first place; all of them, and the bias, to the first
// channel of these groups. Weights are [group, output block, depth, height,
// width, input, outputs].
struct PlanePart {
  // Most outputs of a block. The outputs of a group are computed in blocks of
  // about the same size, whose sums leave registers for what is read.
  static constexpr int64_t most_outputs(int64_t lanes) {
    return lanes == 16 ? 8 : 6;
  }

  // Calls work(begin, end) for each block of at most `most` outputs.
  template <typename Work>
  static void each_block(int64_t outputs, int64_t most, Work&& work) {
    const int64_t blocks = support::ceil_div(outputs, most);
    for (int64_t i = 0; i < blocks; ++i)
      work(outputs * i / blocks, outputs * (i + 1) / blocks);
  }

  const PlaneTile* tile;
  const float* input;
  int64_t steps[3];  // To the next depth tap's slice, to the next row, column.
  TapRange slices;   // Taps along the depth.
  const float* weight;
  bool finite;        // All weights are.
  const float* bias;  // Or null.
  float* output;
  int64_t output_step;  // From place to place.
  float* planes;
  float* results;
  int64_t groups, inputs;
};

class PlanarGroups : public RowConv {
 public:
  static constexpr weights::Reader kReader =
      weights::Reader::grouped_convolution;
  // For the convolutions of which program::has_planes() is true. Tensors may be
  // meta.
  PlanarGroups(const ops::ConvParams& params, const Tensor& input,
               const Tensor& weight, CpuLevel level);

  size_t scratch_bytes() const;

  // Computes rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Bytes of the packed weights, laid out as PlanePart says, and of a number
  // that is zero unless all weights are finite.
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  void run_tile(const Data& data, const PlaneTile& tile, int64_t slice) const;

  int64_t weight_floats() const;
  int64_t lanes_bytes() const;  // Of a tile, in scratch.

  int64_t part_groups_;
  PlaneLayout layout_;
};

}  // namespace fxjit::kernels
