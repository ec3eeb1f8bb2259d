// How vectors of (place, channel) pairs lie in a line of which every second
// place is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fxjit::kernels {

// A vector that starts with some channel. Lanes of the p-th place that it has
// lanes of lie p * channels floats further than in a line that is read whole.
struct NarrowLanes {
  static constexpr int kMostLanes = 16;
  using Table = std::array<int32_t, kMostLanes>;

  int places;               // That it has lanes of.
  alignas(64) Table place;  // Of each lane, the first being 0.

  // How taps that lie next to each other are picked out of three vectors of
  // kMostLanes: one at the first lane of tap 0, one behind it, and one, `end`
  // floats from the first, that ends with the last lane of tap 2.
  enum class Picks {
    none,    // They do not hold all that the taps read.
    two,     // Taps 0 and 1 lie in the first two,
    second,  // tap 1 has lanes of the last one, too,
    both     // and so has tap 0.
  };
  Picks picks;
  int64_t end;
  // For taps 0 and 1: into the first two, and into what these gave and the
  // last.
  alignas(64) Table pick[2], pick_last[2];
  // For tap t from 2 on: into tap t - 2 and the vector that ends with the last
  // lane of tap t.
  alignas(64) Table pick_next;
};

// For each channel that a vector can start with, and each number of lanes.
class EveryNarrowLanes {
 public:
  explicit EveryNarrowLanes(int64_t channels);

  // 1, 4, 8 or 16 lanes.
  const NarrowLanes& at(int64_t channel, int64_t lanes) const {
    return of_[lanes == 1   ? 0
               : lanes == 4 ? 1
               : lanes == 8 ? 2
                            : 3][static_cast<size_t>(channel)];
  }

 private:
  std::array<std::vector<NarrowLanes>, 4> of_;
};

}  // namespace fxjit::kernels
