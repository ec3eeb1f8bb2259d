// Convolutions of f32 images in groups of four to sixteen channels, channels
// innermost, in plain C++ vectors. What a tile of the output reads is turned
// into planes first, one for each channel, so that lanes are places: each input
// is multiplied by one weight for each output, no lane is idle whatever the
// number of channels, and the sums are turned back at the end.
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

// Some of the places of a slice, and which of its lanes each tap reads.
struct PlaneTile {
  struct Vector {
    int64_t place;  // Its first one, from the tile's first.
    uint16_t used;  // Lanes.
  };

  int64_t vectors() const {
    return support::ceil_div((rows - 1) * layout->pitch + columns,
                             layout->lanes);
  }

  // Where the first place lies in a plane, which begins with the first row that
  // is read.
  int64_t origin() const {
    const int64_t before = std::max<int64_t>(0, -layout->height.least);
    return std::min(row, before) * layout->pitch;
  }

  const PlaneLayout* layout;
  Vector* lanes;     // [vectors]
  std::byte* masks;  // [vectors, height, width]
  int64_t row = 0, rows = 0, column = 0, columns = 0;
};

// Some groups of a tile. Input begins at the first place of the slice that
// depth tap 0 sees or would see, output and work at the tile's, all of them and
// the bias at the part's first channel. Weights are [group, output block,
// depth, height, width, input, outputs].
struct PlanePart {
  // Outputs of a group are computed in blocks of about the same size, whose
  // sums leave registers for what they are made of.
  static constexpr int64_t most_outputs(int64_t lanes) {
    return lanes == 16 ? 8 : 6;
  }

  // Calls work(begin, end) for the outputs of each block of at most `most`.
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
  PostWork work;
  float* planes;
  float* results;
  int64_t groups, inputs;
};

class PlanarGroups : public RowConv {
 public:
  static constexpr weights::Reader kReader =
      weights::Reader::grouped_convolution;
  // For convolutions that program::has_planes() tells; tensors may be meta.
  PlanarGroups(const ops::ConvParams& params, const Tensor& input,
               const Tensor& weight, CpuLevel level);

  size_t scratch_bytes() const;

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as PlanePart has them, and a number that is zero unless all of them
  // are finite.
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
