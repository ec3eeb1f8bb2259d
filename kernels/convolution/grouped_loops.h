// The loops of grouped_conv.cpp, once per CPU level (each_level.h).

#if FXJIT_LANES < 8
inline void run(const GroupedRow&) {
  throw InternalError("loops over groups need vectors of eight floats");
}
#else
#include "kernels/vector_loops.h"
// Of its vectors.
#include "kernels/convolution/some_lanes.h"

// The lanes of a row's vectors.
struct Lanes {
  explicit Lanes(const GroupedRow& row)
      : table(*row.lanes),
        place(load_lanes(table.place)),
        channel(load_lanes(table.channel)),
        used(place >= 0),
        first(place == 0),
        full(table.count == FXJIT_LANES) {}

  FXJIT_INLINE Vector read(const float* from) const {
    return load_some(from, used);
  }
  FXJIT_INLINE void write(Vector v, float* to) const {
    full ? store(v, to) : store_first(v, to, table.count);
  }
  // One number for each channel, at each place.
  FXJIT_INLINE Vector for_channels(const float* from) const {
    return __builtin_shuffle(load_some(from, first), channel);
  }
  // Those whose place is inside of the image, where the first one's is `at`.
  FXJIT_INLINE Integers inside(const GroupedRow& row, int64_t at) const {
    const Integers where = place + static_cast<int32_t>(at);
    return (where >= 0) & (where < static_cast<int32_t>(row.size));
  }

  const GroupedLanes& table;
  Integers place, channel;
  Integers used, first;  // Those in use; those of the first place.
  bool full;
};

// kPlaces vectors side by side, kStep positions from each to the next. kEnds:
// the first or the last tap may be outside of the image, or lanes that hold
// nothing outside of its row.
template <int kInputs, int kPlaces, int kStep, bool kEnds>
struct GroupedBlock {
  static constexpr int kTaps = 3, kLast = (kPlaces - 1) * kStep + kTaps - 1;

  GroupedBlock(const GroupedRow& row, const Lanes& lanes, int64_t place)
      : row(row),
        lanes(lanes),
        place(place),
        inside_first(lanes.inside(row, place * row.stride - row.pad)),
        inside_last(lanes.inside(row, place * row.stride - row.pad + kLast)) {}

  // Adds what a row of taps gives: lane i of sums[t] is of the output t
  // channels after input i in its group, the first following the last.
  FXJIT_INLINE void add_taps(const float* from, const float* weight,
                             Vector (&sums)[kInputs][kPlaces]) const {
    const int64_t step = row.tap_step[2];
    Vector x[kLast + 1];
    x[0] = kEnds ? load_some(from, inside_first) : load(from);
#pragma GCC unroll 32
    for (int p = 1; p < kLast; ++p)
      x[p] = kEnds ? lanes.read(from + p * step) : load(from + p * step);
    x[kLast] = kEnds ? load_some(from + kLast * step, inside_last)
                     : load(from + kLast * step);
#pragma GCC unroll 16
    for (int t = 0; t < kInputs; ++t)
#pragma GCC unroll 4
      for (int w = 0; w < kTaps; ++w) {
        Vector factor = load(weight + (t * kTaps + w) * FXJIT_LANES);
        // Else each use would load it.
        if (kPlaces > 1) asm("" : "+v"(factor));
#pragma GCC unroll 16
        for (int i = 0; i < kPlaces; ++i) {
          const int p = i * kStep + w;
          const Vector sum = sums[t][i] + factor * x[p];
          sums[t][i] = kEnds && p == 0       ? (inside_first ? sum : sums[t][i])
                       : kEnds && p == kLast ? (inside_last ? sum : sums[t][i])
                                             : sum;
        }
      }
  }

  FXJIT_INLINE void add_rows(Vector (&sums)[kInputs][kPlaces]) const {
    const float* corner = row.input + place * row.place_step;
    constexpr int64_t kFloats = kInputs * kTaps * FXJIT_LANES;
    for (int64_t d = row.taps[0].first; d < row.taps[0].last; ++d)
      for (int64_t h = row.taps[1].first; h < row.taps[1].last; ++h)
        add_taps(corner + d * row.tap_step[0] + h * row.tap_step[1],
                 row.weight + (d * row.kernel[1] + h) * kFloats, sums);
  }

  FXJIT_INLINE void run() const {
    Vector sums[kInputs][kPlaces] = {};
    add_rows(sums);
    Vector results[kPlaces];
    const Vector bias = row.bias ? lanes.for_channels(row.bias) : Vector{};
#pragma GCC unroll 16
    for (int i = 0; i < kPlaces; ++i) results[i] = sums[0][i] + bias;
#pragma GCC unroll 16
    for (int t = 1; t < kInputs; ++t) {
      const Integers turned = load_lanes(lanes.table.turned[t]);
#pragma GCC unroll 16
      for (int i = 0; i < kPlaces; ++i)
        results[i] += __builtin_shuffle(sums[t][i], turned);
    }
    float* to = row.output + place * row.output_step;
#pragma GCC unroll 16
    for (int i = 0; i < kPlaces; ++i)
      lanes.write(results[i], to + i * row.span * row.output_step);
  }

  const GroupedRow& row;
  const Lanes& lanes;
  int64_t place;
  Integers inside_first, inside_last;
};

// A function of its own, since it is long.
template <int kInputs, int kPlaces, int kStep, bool kEnds>
[[gnu::noinline]] void block(const GroupedRow& row, const Lanes& lanes,
                             int64_t place) {
  GroupedBlock<kInputs, kPlaces, kStep, kEnds>(row, lanes, place).run();
}

// `count` blocks from place to place; those that can read whole vectors for all
// taps ask nothing about the image. The last of a row may compute some places
// anew. Returns the place after them.
template <int kInputs, int kPlaces, int kStep>
inline int64_t blocks(const GroupedRow& row, const Lanes& lanes, int64_t at,
                      int64_t count) {
  const int64_t whole = kPlaces * row.span, last = row.places - whole;
  const bool ahead = !row.ahead.empty();
  for (; count > 0; --count, at += whole) {
    if (ahead) row.ahead.ask(at, at + whole);
    const int64_t place = std::min(at, last);
    const int64_t first_tap = place * row.stride - row.pad;
    const int64_t last_tap = first_tap + (whole - 1) * row.stride + 2;
    first_tap >= 0 && last_tap < row.readable
        ? block<kInputs, kPlaces, kStep, false>(row, lanes, place)
        : block<kInputs, kPlaces, kStep, true>(row, lanes, place);
  }
  return at;
}

// All places of a row, which has at least the places of a vector. A row that is
// a multiple of neither block is made of both, such that few places are
// computed twice; one of fewer places than the smaller block goes vector by
// vector.
template <int kInputs, int kStep, int kRegisters>
inline void some_places(const GroupedRow& row) {
  // Registers hold the sums of all inputs, what is read, and a factor.
  constexpr int kPlaces =
      std::max(1, (kRegisters - 5 + kStep) / (kInputs + kStep));
  constexpr int kFewer = std::max(1, kPlaces - 1);
  const Lanes lanes(row);
  const int64_t vectors = support::ceil_div(row.places, row.span);
  if (kFewer * row.span > row.places) {
    blocks<kInputs, 1, kStep>(row, lanes, 0, vectors);
  } else if (kPlaces * row.span > row.places) {
    blocks<kInputs, kFewer, kStep>(row, lanes, 0,
                                   support::ceil_div(vectors, kFewer));
  } else {
    const int64_t count = support::ceil_div(vectors, kPlaces);
    const int64_t fewer = std::min(count, count * kPlaces - vectors);
    const int64_t place =
        blocks<kInputs, kPlaces, kStep>(row, lanes, 0, count - fewer);
    blocks<kInputs, kFewer, kStep>(row, lanes, place, fewer);
  }
}

inline void run(const GroupedRow& row) {
  constexpr int kRegisters = FXJIT_LANES == 16 ? 32 : 16;
  const auto with = [&]<int kInputs>() {
    return row.stride * row.span == 1
               ? some_places<kInputs, 1, kRegisters>(row)
               : some_places<kInputs, 2, kRegisters>(row);
  };
  switch (row.inputs) {
#define FXJIT_CASE(inputs) \
  case inputs:             \
    return with.template operator()<inputs>();
    FXJIT_CASE(2)
    FXJIT_CASE(3)
    FXJIT_CASE(4)
    FXJIT_CASE(5)
    FXJIT_CASE(6)
    FXJIT_CASE(7)
    FXJIT_CASE(8)
#undef FXJIT_CASE
    default:
      throw InternalError("no loops for groups of this size");
  }
}
#endif
