#include "kernels/convolution/narrow_lanes.h"

#include <algorithm>

namespace fxjit::kernels {
namespace {

constexpr int64_t kLanes = NarrowLanes::kMostLanes;

// Where a lane's float lies in three vectors that are read.
struct Spot {
  int64_t at, end;

  bool in_last() const { return at >= 2 * kLanes; }
  bool is_read() const { return !in_last() || at >= end; }
  // Counted from the first of the two vectors that are picked from.
  int32_t index() const {
    return static_cast<int32_t>(in_last() ? kLanes + at - end : at);
  }
};

// What tap `tap` picks. Returns whether it needs the last vector.
bool pick(NarrowLanes& made, const std::array<int64_t, kLanes>& from,
          int64_t channels, size_t tap) {
  bool needs_last = false;
  for (size_t i = 0; i < kLanes; ++i) {
    const Spot spot{from[i] + static_cast<int64_t>(tap) * channels, made.end};
    made.pick[tap][i] = spot.in_last() ? 0 : spot.index();
    made.pick_last[tap][i] =
        spot.in_last() ? spot.index() : static_cast<int32_t>(i);
    needs_last |= spot.in_last();
    if (!spot.is_read()) made.picks = NarrowLanes::Picks::none;
  }
  return needs_last;
}

// For 16 lanes. More channels than half of them have lanes of a tap neither in
// the tap two before it nor in one vector.
void find_picks(NarrowLanes& made, int64_t channels) {
  using Picks = NarrowLanes::Picks;
  made.picks = Picks::none;
  if (2 * channels > kLanes) return;
  std::array<int64_t, kLanes> from;
  for (size_t i = 0; i < kLanes; ++i)
    from[i] = static_cast<int64_t>(i) + made.place[i] * channels;
  made.end = from.back() + 2 * channels - (kLanes - 1);
  made.picks = Picks::two;
  const bool first = pick(made, from, channels, 0);
  const bool second = pick(made, from, channels, 1);
  if (made.picks == Picks::none) return;
  made.picks = first ? Picks::both : second ? Picks::second : Picks::two;
  for (size_t i = 0; i < kLanes; ++i) {
    const auto behind = static_cast<int64_t>(i) + channels;
    made.pick_next[i] = static_cast<int32_t>(
        behind < kLanes ? behind : kLanes + from[i] + 2 * channels - made.end);
  }
}

NarrowLanes lanes_of(int64_t channels, int64_t first, int64_t lanes) {
  NarrowLanes made{};
  for (int64_t i = 0; i < lanes; ++i)
    made.place[static_cast<size_t>(i)] =
        static_cast<int32_t>((first + i) / channels);
  made.places = made.place[static_cast<size_t>(lanes - 1)] + 1;
  if (lanes == kLanes) find_picks(made, channels);
  return made;
}

}  // namespace

EveryNarrowLanes::EveryNarrowLanes(int64_t channels) {
  constexpr int64_t kNumbers[] = {1, 4, 8, 16};
  for (size_t i = 0; i < of_.size(); ++i)
    for (int64_t first = 0; first < channels; ++first)
      of_[i].push_back(lanes_of(channels, first, kNumbers[i]));
}

}  // namespace fxjit::kernels
