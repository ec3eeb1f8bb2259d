// Which places the lanes of a tile's vectors are, and which inputs they see:
// after plane_turns.h.

// Which lanes of a vector see an input.
#if FXJIT_LANES == 16
using LaneMask = __mmask16;
FXJIT_INLINE LaneMask lane_mask(Integers lanes) { return mask_of(lanes); }
#else
using LaneMask = Integers;
FXJIT_INLINE LaneMask lane_mask(Integers lanes) { return lanes; }
#endif

static_assert(sizeof(LaneMask) == PlaneLayout::mask_bytes(FXJIT_LANES));

FXJIT_INLINE LaneMask load_mask(const std::byte* from) {
  LaneMask mask;
  std::memcpy(&mask, from, sizeof(mask));
  return mask;
}

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

// The lanes whose tap lies inside of the image, where those are of inputs `at`
// beside what the tap adds. Those before the image are large as numbers without
// a sign.
FXJIT_INLINE Integers inside(const PlaneTaps& taps, const PlaneTaps::Tap& tap,
                             Integers at) {
  using Unsigned [[gnu::vector_size(sizeof(Integers))]] = uint32_t;
  const Integers input =
      at + numbers(tap.shift * taps.stride + taps.first[tap.slot]);
  return reinterpret_cast<Unsigned>(input) <
         reinterpret_cast<Unsigned>(numbers(taps.size));
}

// Which lanes of each vector hold a place, and for which taps that place reads
// the image and no padding.
inline void run(const PlaneTile& tile) {
  const PlaneLayout& layout = *tile.layout;
  LanePlaces at(layout.pitch);
  int64_t place = 0;
  std::byte* masks = tile.masks;
  for (int64_t v = 0; v < tile.vectors(); ++v, at.next()) {
    const Integers used =
        (at.x < numbers(tile.columns)) & (at.y < numbers(tile.rows));
    tile.lanes[v] = {place, mask_of(used)};
    place += std::popcount(tile.lanes[v].used);
    const Integers y =
        (at.y + numbers(tile.row)) * numbers(layout.height.stride);
    const Integers x =
        (at.x + numbers(tile.column)) * numbers(layout.width.stride);
    for (const PlaneTaps::Tap& h : layout.height.taps) {
      const Integers of_row = used & inside(layout.height, h, y);
      for (const PlaneTaps::Tap& w : layout.width.taps) {
        const LaneMask mask = lane_mask(of_row & inside(layout.width, w, x));
        std::memcpy(masks, &mask, sizeof(mask));
        masks += sizeof(mask);
      }
    }
  }
}
