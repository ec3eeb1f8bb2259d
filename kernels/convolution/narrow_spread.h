// Where the lanes of a vector of (place, channel) pairs lie in a line of which
// every second place is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fxjit::kernels {

// The lanes are picked out of two or three vectors that are read: the first
// one's at the first lane, the others `apart` floats behind. They reach no
// further than the last lane.
struct NarrowSpread {
  static constexpr int kMostLanes = 16;

  int loads;
  int64_t apart[2];
  // Into the first two vectors; into what these gave and the third.
  int32_t index[2][kMostLanes];
};

// For each channel that a vector can start with, and each number of lanes.
class NarrowSpreads {
 public:
  explicit NarrowSpreads(int64_t channels);

  // 4, 8 or 16 lanes.
  const NarrowSpread& at(int64_t channel, int64_t lanes) const {
    return of_[lanes == 4   ? 0
               : lanes == 8 ? 1
                            : 2][static_cast<size_t>(channel)];
  }

 private:
  std::array<std::vector<NarrowSpread>, 3> of_;
};

}  // namespace fxjit::kernels
