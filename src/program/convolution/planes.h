// How convolutions in groups turn what a tile of the output reads into planes,
// one for each channel (kernels/convolution/planar_groups.h), and whether they
// are small enough.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "src/program/convolution/axis.h"

namespace fxjit::program {

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
  static constexpr int64_t kMostLanes = 16;   // Of a vector.
  static constexpr int64_t kMostVectors = 6;  // Computed at once.
  static constexpr int64_t kResult = kMostVectors * kMostLanes;

  // For vectors of `lanes` floats.
  PlaneLayout(const std::array<ConvAxis, 3>& axes, int64_t channels,
              int64_t lanes);

  // What all planes and what is before them take, and a part's results.
  int64_t plane_floats() const { return lead + depth_taps * slices_apart; }
  int64_t result_floats() const { return channels * kResult; }
  int64_t vectors() const;  // Of a tile, at most.
  // What says which lanes of a vector a tap reads: a bit for each or, where
  // vectors have no instructions for those, a float's bits.
  static constexpr int64_t mask_bytes(int64_t lanes) {
    return lanes == kMostLanes ? lanes / 8 : lanes * 4;
  }
  // For all vectors, and all taps of height and width.
  int64_t mask_bytes() const;
  // Whether tiles are not much smaller than what they read.
  bool is_efficient() const;

  PlaneTaps height, width;
  int64_t depth_taps;
  int64_t channels;  // Of a part, at most.
  int64_t lanes;
  int64_t rows, columns;  // Of a tile, at most.
  int64_t pitch;
  // Before the first plane: lanes in the padding read there what is not used.
  int64_t lead;
  // From plane to plane, and to those of the next slot of the height, of the
  // next tap of the depth.
  int64_t plane, rows_apart, slices_apart;
  // From a place to what each tap of height and width sees of it.
  std::vector<int64_t> tap_offsets;

 private:
  void set_tile(int64_t most_rows, int64_t most_columns);
};

// Groups whose places are turned together: they begin and end between four
// channels, as no read or write of four crosses a cache line then, and share
// lines with few others.
int64_t groups_of_part(int64_t channels, int64_t inputs);

}  // namespace fxjit::program
