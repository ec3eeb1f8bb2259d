// Convolutions of f32 images in groups of five to sixteen channels, channels
// innermost, in plain C++ vectors. What a tile of the output reads is turned
// into planes first, one for each channel, so that lanes are places: each input
// is multiplied by one weight for each output, no lane is idle whatever the
// number of channels, and the sums are turned back at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/convolution/row_conv.h"
#include "src/support/rounding.h"

namespace fxjit::kernels {

// How taps along one dim read planes, which hold every `stride`-th input: tap t
// of place p reads number p + taps[t].shift of slot taps[t].slot, and there
// number i is input i * stride + first[slot].
struct PlaneTaps {
  struct Tap {
    int64_t slot, shift;
  };

  explicit PlaneTaps(const ConvAxis& axis);
  int64_t slots() const { return static_cast<int64_t>(first.size()); }
  int64_t spread() const { return most - least; }  // Of shifts.

  std::vector<int64_t> first;
  std::vector<Tap> taps;
  int64_t least = 0, most = 0;  // Shifts.
  int64_t stride, size, places;
};

// What tiles of an image have in common. A tile's places lie in rows of `pitch`
// lanes; lanes beyond its columns hold nothing. Numbers are floats.
struct PlaneLayout {
  static constexpr int64_t kLanes = 16;
  static constexpr int64_t kMostVectors = 6;  // Computed at once.
  static constexpr int64_t kResult = kMostVectors * kLanes;

  PlaneLayout(const std::array<ConvAxis, 3>& axes, int64_t channels);

  int64_t rows_apart() const { return width.slots() * channels * plane; }
  int64_t slices_apart() const { return height.slots() * rows_apart(); }
  // What all planes and what is before them take, and a part's results.
  int64_t plane_floats() const { return lead + depth_taps * slices_apart(); }
  int64_t result_floats() const { return channels * kResult; }
  int64_t vectors() const;  // Of a tile, at most.
  // Whether tiles are not much smaller than what they read.
  bool is_efficient() const;

  PlaneTaps height, width;
  int64_t depth_taps;
  int64_t channels;       // Of a part, at most.
  int64_t rows, columns;  // Of a tile, at most.
  int64_t pitch;
  // Before the first plane: lanes in the padding read there what is not used.
  int64_t lead;
  int64_t plane;  // From plane to plane.
  // From a place to what each tap of height and width sees of it.
  std::vector<int64_t> tap_offsets;

 private:
  void set_tile(int64_t most_rows, int64_t most_columns);
};

// Some of the places of a slice, and which of its lanes each tap reads.
struct PlaneTile {
  struct Vector {
    int64_t place;  // Its first one, from the tile's first.
    uint16_t used;  // Lanes.
  };

  int64_t vectors() const {
    return support::ceil_div((rows - 1) * layout->pitch + columns,
                             PlaneLayout::kLanes);
  }

  // Where the first place lies in a plane, which begins with the first row that
  // is read.
  int64_t origin() const {
    const int64_t before = std::max<int64_t>(0, -layout->height.least);
    return std::min(row, before) * layout->pitch;
  }

  const PlaneLayout* layout;
  Vector* lanes;    // [vectors]
  uint16_t* masks;  // [vectors, height, width]
  int64_t row = 0, rows = 0, column = 0, columns = 0;
};

// Some groups of a tile. Input begins at the first place of the slice that
// depth tap 0 sees or would see, output and work at the tile's, all of them and
// the bias at the part's first channel. Weights are [group, output block,
// depth, height, width, input, outputs].
struct PlanePart {
  // Outputs of a group are computed in blocks of about the same size.
  static constexpr int64_t kMostOutputs = 8;

  // Calls work(begin, end) for the outputs of each block.
  template <typename Work>
  static void each_block(int64_t outputs, Work&& work) {
    const int64_t blocks = support::ceil_div(outputs, kMostOutputs);
    for (int64_t i = 0; i < blocks; ++i)
      work(outputs * i / blocks, outputs * (i + 1) / blocks);
  }

  const PlaneTile* tile;
  const float* input;
  int64_t steps[3];  // To the next depth tap's slice, to the next row, column.
  TapRange slices;   // Taps along the depth.
  const float* weight;
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
  // For convolutions that fits() tells; tensors may be meta.
  PlanarGroups(const ops::ConvParams& params, const Tensor& input,
               const Tensor& weight);

  // Whether these are the loops for a convolution that
  // program::is_grouped_last() tells.
  static bool fits(const ops::ConvParams& params, const Tensor& input,
                   const Tensor& weight, CpuLevel level = host_cpu_level());

  size_t scratch_bytes() const;

  // Rows [begin, end) of the output.
  void run(const Data& data, int64_t begin, int64_t end) const;

  // Weights as PlanePart has them.
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 private:
  void run_tile(const Data& data, const PlaneTile& tile, int64_t slice) const;

  int64_t part_groups_;
  PlaneLayout layout_;
};

}  // namespace fxjit::kernels
