// Which places the lanes of a tile's vectors are, and which inputs they see:
// for loops with vectors of sixteen floats, after plane_turns.h.

// The columns and rows of the lanes of one vector after the other.
struct LanePlaces {
  explicit LanePlaces(int64_t pitch) : pitch(numbers(pitch)) {
    for (int32_t i = 0; i < FXJIT_LANES; ++i) x[i] = i;
    wrap();
  }
  void next() {
    x += FXJIT_LANES;
    wrap();
  }
  void wrap() {
    for (Integers over = x >= pitch; mask_of(over); over = x >= pitch) {
      x -= over & pitch;
      y -= over;
    }
  }

  Integers pitch, x{}, y{};
};

// The lanes whose tap lies inside of the image, where those are places `at`
// after place `from` of a dim.
inline uint16_t inside(const PlaneTaps& taps, const PlaneTaps::Tap& tap,
                       Integers at, int64_t from) {
  const Integers input =
      (at + numbers(from + tap.shift)) * numbers(taps.stride) +
      numbers(taps.first[tap.slot]);
  return mask_of((input >= 0) & (input < numbers(taps.size)));
}

// Which lanes of each vector hold a place, and for which taps that place reads
// the image and no padding.
inline void run(const PlaneTile& tile) {
  const PlaneLayout& layout = *tile.layout;
  LanePlaces at(layout.pitch);
  int64_t place = 0;
  uint16_t* masks = tile.masks;
  for (int64_t v = 0; v < tile.vectors(); ++v, at.next()) {
    const uint16_t used =
        mask_of((at.x < numbers(tile.columns)) & (at.y < numbers(tile.rows)));
    tile.lanes[v] = {place, used};
    place += std::popcount(used);
    for (const PlaneTaps::Tap& h : layout.height.taps) {
      const uint16_t of_row = used & inside(layout.height, h, at.y, tile.row);
      for (const PlaneTaps::Tap& w : layout.width.taps)
        *masks++ = of_row & inside(layout.width, w, at.x, tile.column);
    }
  }
}
