// What the lanes of a vector need of one row for each tap of the width:
// included by narrow_loops.h. Nothing behind the last tap's last lane is read.

FXJIT_INLINE Integers load_table(const NarrowLanes::Table& table) {
  Integers v;
  std::memcpy(&v, table.data(), sizeof(v));
  return v;
}

#if FXJIT_LANES == 16
using SomeLanes = __mmask16;

// Those whose place is `p` or behind it.
FXJIT_INLINE SomeLanes lanes_from(Integers place, int32_t p) {
  return _mm512_cmpge_epi32_mask(reinterpret_cast<__m512i>(place),
                                 _mm512_set1_epi32(p));
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
FXJIT_INLINE Vector blend(SomeLanes lanes, Vector x, Vector other) {
  return lanes ? other : x;
}
#endif

// Places of the output lie next to each other in the input, too.
struct SideBySide {
  int64_t column;  // From tap to tap.

  template <int kWidth>
  FXJIT_INLINE void read(const float* from, Vector (&x)[kWidth]) const {
#pragma GCC unroll 8
    for (int w = 0; w < kWidth; ++w) x[w] = load_once(from + w * column);
  }
};

// Lanes of kPlaces places, from as many vectors that lie one place apart: each
// lane has its own of one of them. Taps, one place apart too, share vectors.
template <int kPlaces>
struct Blended {
  Blended(const NarrowLanes& lanes, int64_t channels) : channels(channels) {
    const Integers place = load_table(lanes.place);
#pragma GCC unroll 8
    for (int p = 1; p < kPlaces; ++p) later[p] = lanes_from(place, p);
  }

  template <int kWidth>
  FXJIT_INLINE void read(const float* from, Vector (&x)[kWidth]) const {
    constexpr int kVectors = kWidth + kPlaces - 1;
    Vector loaded[kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i)
      loaded[i] = load_once(from + i * channels);
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

// One tap, for lanes of any number of places.
FXJIT_INLINE Vector read_places(const NarrowLanes& lanes, int64_t channels,
                                const float* from) {
  Vector x = load(from);
  const Integers place = load_table(lanes.place);
  for (int32_t p = 1; p < lanes.places; ++p)
    x = blend(lanes_from(place, p), x, load(from + p * channels));
  return x;
}

#if FXJIT_LANES == 16
// Fewer vectors than Blended reads, at the price of permutations.
template <NarrowLanes::Picks kPicks>
struct Picked {
  Picked(const NarrowLanes& lanes, int64_t channels)
      : end(lanes.end),
        channels(channels),
        first(load_table(lanes.pick[0])),
        second(load_table(lanes.pick[1])),
        first_last(load_table(lanes.pick_last[0])),
        second_last(load_table(lanes.pick_last[1])),
        next(load_table(lanes.pick_next)) {}

  template <int kWidth>
  FXJIT_INLINE void read(const float* from, Vector (&x)[kWidth]) const {
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

// Calls use(taps) with the fastest way to read every second place.
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
      return use(Blended<4>(lanes, channels));
  }
}
