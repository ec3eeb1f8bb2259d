// What the lanes of a vector need of one row for each tap of the width:
// included by narrow_loops.h. Loads (Whole, Clipped) read vectors of the row:
// number `i` of those that all taps need, at `from`. Nothing behind the last
// tap's last lane is read.

#if FXJIT_LANES == 16
using SomeLanes = __mmask16;

// Those whose place is `p` or behind it.
FXJIT_INLINE SomeLanes lanes_from(Integers place, int32_t p) {
  return _mm512_cmpge_epi32_mask(reinterpret_cast<__m512i>(place),
                                 _mm512_set1_epi32(p));
}
// Those that lie in a row of `floats`, where the first one is number `at`.
FXJIT_INLINE SomeLanes lanes_inside(int64_t at, int64_t floats) {
  const auto first = std::clamp<int64_t>(-at, 0, FXJIT_LANES);
  const auto last = std::clamp<int64_t>(floats - at, 0, FXJIT_LANES);
  return static_cast<SomeLanes>(((1u << last) - 1) & (~0u << first));
}
FXJIT_INLINE Vector load_some(const float* from, SomeLanes lanes) {
  return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(lanes, from));
}
FXJIT_INLINE Vector blend(SomeLanes lanes, Vector x, Vector other) {
  return reinterpret_cast<Vector>(_mm512_mask_mov_ps(
      reinterpret_cast<__m512>(x), lanes, reinterpret_cast<__m512>(other)));
}
#else
using SomeLanes = Integers;

FXJIT_INLINE SomeLanes lanes_from(Integers place, int32_t p) {
  return place >= p;
}
FXJIT_INLINE SomeLanes lanes_inside(int64_t at, int64_t floats) {
  Integers lane;
  for (int32_t i = 0; i < FXJIT_LANES; ++i) lane[i] = i;
  const auto first = std::clamp<int64_t>(-at, 0, FXJIT_LANES);
  const auto last = std::clamp<int64_t>(floats - at, 0, FXJIT_LANES);
  return (lane >= static_cast<int32_t>(first)) &
         (lane < static_cast<int32_t>(last));
}
FXJIT_INLINE Vector blend(SomeLanes lanes, Vector x, Vector other) {
  return lanes ? other : x;
}
#endif

// For vectors inside of the row.
struct Whole {
  FXJIT_INLINE Vector operator()(int, const float* from) const {
    return load_once(from);
  }
};

// Zero outside of the row. Vector i lies `apart` floats behind vector i - 1.
template <int kVectors>
struct Clipped {
  FXJIT_INLINE Clipped(int64_t at, int64_t floats, int64_t apart) {
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i)
      inside[i] = lanes_inside(at + i * apart, floats);
  }
  FXJIT_INLINE Vector operator()(int i, const float* from) const {
    return load_some(from, inside[i]);
  }
  SomeLanes inside[kVectors];
};

// Places of the output lie next to each other in the input, too.
struct SideBySide {
  int64_t column;  // From tap to tap.

  template <int kWidth, typename Load>
  FXJIT_INLINE void read(const float* from, const Load& load,
                         Vector (&x)[kWidth]) const {
#pragma GCC unroll 8
    for (int w = 0; w < kWidth; ++w) x[w] = load(w, from + w * column);
  }
};

// Lanes of kPlaces places, from as many vectors that lie one place apart: each
// lane has its own of one of them. Taps, one place apart too, share vectors.
template <int kPlaces>
struct Blended {
  Blended(const NarrowLanes& lanes, int64_t channels) : channels(channels) {
    const Integers place = load_lanes(lanes.place.data());
#pragma GCC unroll 8
    for (int p = 1; p < kPlaces; ++p) later[p] = lanes_from(place, p);
  }

  template <int kWidth, typename Load>
  FXJIT_INLINE void read(const float* from, const Load& load,
                         Vector (&x)[kWidth]) const {
    constexpr int kVectors = kWidth + kPlaces - 1;
    Vector loaded[kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) loaded[i] = load(i, from + i * channels);
#pragma GCC unroll 8
    for (int w = 0; w < kWidth; ++w) {
      x[w] = loaded[w];
#pragma GCC unroll 8
      for (int p = 1; p < kPlaces; ++p)
        x[w] = blend(later[p], x[w], loaded[w + p]);
    }
  }

  int64_t channels;
  SomeLanes later[kPlaces];
};

#if FXJIT_LANES == 16
// Fewer vectors than Blended reads, at the price of permutations; inside of the
// row.
template <NarrowLanes::Picks kPicks>
struct Picked {
  Picked(const NarrowLanes& lanes, int64_t channels)
      : end(lanes.end),
        channels(channels),
        first(load_lanes(lanes.pick[0].data())),
        second(load_lanes(lanes.pick[1].data())),
        first_last(load_lanes(lanes.pick_last[0].data())),
        second_last(load_lanes(lanes.pick_last[1].data())),
        next(load_lanes(lanes.pick_next.data())) {}

  template <int kWidth>
  FXJIT_INLINE void read(const float* from, const Whole&,
                         Vector (&x)[kWidth]) const {
    static_assert(kWidth > 2);
    const Vector a = load_once(from), b = load_once(from + FXJIT_LANES);
    Vector ends[kWidth - 2];
#pragma GCC unroll 8
    for (int i = 0; i < kWidth - 2; ++i)
      ends[i] = load_once(from + end + i * channels);
    x[0] = __builtin_shuffle(a, b, first);
    if (kPicks == NarrowLanes::Picks::both)
      x[0] = __builtin_shuffle(x[0], ends[0], first_last);
    x[1] = __builtin_shuffle(a, b, second);
    if (kPicks != NarrowLanes::Picks::two)
      x[1] = __builtin_shuffle(x[1], ends[0], second_last);
#pragma GCC unroll 8
    for (int w = 2; w < kWidth; ++w)
      x[w] = __builtin_shuffle(x[w - 2], ends[w - 2], next);
  }

  int64_t end, channels;
  Integers first, second, first_last, second_last, next;
};
#endif

// That blends read lanes of.
constexpr int kMostPlaces = 4;

// Calls use(taps) with the fastest way to read every second place. Without
// picks there are at most kMostPlaces.
template <typename Use>
FXJIT_INLINE void with_spread_taps(const NarrowLanes& lanes, int64_t channels,
                                   Use use) {
#if FXJIT_LANES == 16
  using Picks = NarrowLanes::Picks;
  switch (lanes.picks) {
    case Picks::two:
      return use(Picked<Picks::two>(lanes, channels));
    case Picks::second:
      return use(Picked<Picks::second>(lanes, channels));
    case Picks::both:
      return use(Picked<Picks::both>(lanes, channels));
    case Picks::none:
      break;
  }
#endif
  switch (lanes.places) {
    case 1:
      return use(Blended<1>(lanes, channels));
    case 2:
      return use(Blended<2>(lanes, channels));
    case 3:
      return use(Blended<3>(lanes, channels));
    default:
      return use(Blended<kMostPlaces>(lanes, channels));
  }
}

// One tap of a row of the input, `at` floats from its begin, for lanes of any
// number of places.
template <int kAcross, bool kEnds>
FXJIT_INLINE Vector read_tap(const NarrowBlock& block, int64_t line, int64_t at,
                             int64_t channel) {
  const float* row = block.input + line * block.row_step;
  const auto load_at = [&](int64_t from) FXJIT_FORCED {
    return kEnds ? load_some(row + from, lanes_inside(from, block.line))
                 : load(row + from);
  };
  Vector x = load_at(at);
  if constexpr (kAcross > 1) {
    const NarrowLanes& lanes = block.lanes->at(channel, int64_t{FXJIT_LANES});
    const Integers place = load_lanes(lanes.place.data());
    for (int32_t p = 1; p < lanes.places; ++p)
      x = blend(lanes_from(place, p), x, load_at(at + p * block.channels));
  }
  return x;
}
