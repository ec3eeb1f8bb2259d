// The loops of wide_groups.cpp, once per CPU level (each_level.h).

#if FXJIT_LANES < 16
inline void run(const WideGroupRow&) {
  throw InternalError("loops over wide groups need vectors of sixteen floats");
}
#else
#include "kernels/convolution/post_work_loops.h"
#include "kernels/convolution/some_lanes.h"

// The lanes that hold a group's channels.
inline Integers channel_lanes(const WideGroupRow& row) {
  Integers lane;
  for (int32_t i = 0; i < FXJIT_LANES; ++i) lane[i] = i;
  return lane < static_cast<int32_t>(row.channels);
}

// kPlaces places side by side, kStep positions from each to the next.
template <int kPlaces, int kStep>
struct WideGroupBlock {
  static constexpr int kTaps = 3, kLast = (kPlaces - 1) * kStep + kTaps - 1;

  WideGroupBlock(const WideGroupRow& row, Integers used, int64_t place)
      : row(row), used(used), place(place) {
    const int64_t first = place * kStep - row.pad;
    inside_first = Integers{} - (first >= 0);
    inside_last = Integers{} - (first + kLast < row.size);
  }

  // What a row of taps reads; zeros in the padding.
  FXJIT_INLINE void copy(const float* from, float* to) const {
    const int64_t step = row.tap_step[2];
    store(load_some(from, used & inside_first), to);
#pragma GCC unroll 32
    for (int p = 1; p < kLast; ++p)
      store(load_some(from + p * step, used), to + p * FXJIT_LANES);
    store(load_some(from + kLast * step, used & inside_last),
          to + kLast * FXJIT_LANES);
  }

  // Adds what tap kTap of a row gives.
  template <int kTap>
  FXJIT_INLINE void add_tap(const float* x, const float* weight,
                            Vector (&sums)[kPlaces]) const {
    for (int64_t c = 0; c < row.channels; ++c, weight += FXJIT_LANES) {
      const Vector factor = load(weight);
#pragma GCC unroll 16
      for (int i = 0; i < kPlaces; ++i) {
        const int p = i * kStep + kTap;
        const Vector input =
            reinterpret_cast<Vector>(_mm512_set1_ps(x[p * FXJIT_LANES + c]));
        const Vector sum = sums[i] + factor * input;
        sums[i] = p == 0       ? (inside_first ? sum : sums[i])
                  : p == kLast ? (inside_last ? sum : sums[i])
                               : sum;
      }
    }
  }

  FXJIT_INLINE void add_rows(Vector (&sums)[kPlaces]) const {
    const float* corner = row.input + place * row.place_step;
    const int64_t tap = row.channels * FXJIT_LANES;
    alignas(64) float x[(kLast + 1) * FXJIT_LANES];
    for (int64_t d = row.taps[0].first; d < row.taps[0].last; ++d)
      for (int64_t h = row.taps[1].first; h < row.taps[1].last; ++h) {
        copy(corner + d * row.tap_step[0] + h * row.tap_step[1], x);
        const float* weight =
            row.weight + (d * row.kernel[1] + h) * kTaps * tap;
        add_tap<0>(x, weight, sums);
        add_tap<1>(x, weight + tap, sums);
        add_tap<2>(x, weight + 2 * tap, sums);
      }
  }

  FXJIT_INLINE void run() const {
    Vector sums[kPlaces] = {};
    add_rows(sums);
    const Vector bias = row.bias ? load_some(row.bias, used) : Vector{};
#pragma GCC unroll 16
    for (int i = 0; i < kPlaces; ++i) sums[i] += bias;
    for (int64_t i = 0; i < row.work.count; ++i)
      apply(row.work.ops[i], sums, [&](int tensor, int at) FXJIT_FORCED {
        return load_some(
            row.work.extras[tensor] + (place + at) * row.work.steps[tensor],
            used);
      });
    float* to = row.output + place * row.output_step;
#pragma GCC unroll 16
    for (int i = 0; i < kPlaces; ++i)
      store_first(sums[i], to + i * row.output_step,
                  static_cast<int32_t>(row.channels));
  }

  const WideGroupRow& row;
  Integers used;
  int64_t place;
  Integers inside_first, inside_last;
};

// All places of a row, at least kPlaces; the last block may compute some anew.
template <int kPlaces, int kStep>
[[gnu::noinline]] void places(const WideGroupRow& row) {
  const Integers used = channel_lanes(row);
  const bool ahead = !row.ahead.empty();
  for (int64_t place = 0; place < row.places; place += kPlaces) {
    if (ahead) row.ahead.ask(place, place + kPlaces);
    WideGroupBlock<kPlaces, kStep>(row, used,
                                   std::min(place, row.places - kPlaces))
        .run();
  }
}

// Calls `with` for each number of places that a block may have.
template <typename With>
FXJIT_INLINE void each_block(With&& with) {
  with.template operator()<1>();
  with.template operator()<2>();
  with.template operator()<4>();
  with.template operator()<5>();
  with.template operator()<7>();
  with.template operator()<8>();
  with.template operator()<10>();
  with.template operator()<12>();
  with.template operator()<14>();
}

// In blocks that cover the row's places at the least cost, in multiply-adds of
// an input: few sums wait for each other.
template <int kStep>
inline void row_of(const WideGroupRow& row) {
  constexpr int64_t kWait = 4, kOfBlock = 1;
  int64_t best = 0, best_cost = std::numeric_limits<int64_t>::max();
  each_block([&]<int kPlaces>() FXJIT_FORCED {
    const int64_t blocks = (row.places + kPlaces - 1) / kPlaces;
    const int64_t cost =
        blocks * (std::max<int64_t>(kPlaces, kWait) + kOfBlock);
    if (kPlaces <= row.places && cost <= best_cost)
      best = kPlaces, best_cost = cost;
  });
  each_block([&]<int kPlaces>() FXJIT_FORCED {
    if (kPlaces == best) places<kPlaces, kStep>(row);
  });
}

inline void run(const WideGroupRow& row) {
  row.stride == 1 ? row_of<1>(row) : row_of<2>(row);
}
#endif
