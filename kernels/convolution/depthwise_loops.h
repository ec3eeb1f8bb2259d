// The loops of depthwise.cpp, once per CPU level and vector width
// (vector_widths.h).

#include "kernels/convolution/post_work_loops.h"

// Adds what one row of taps gives to kVectors x kPlaces sums. kTaps: that many
// taps, one position apart, and kStep positions between places, so that places
// share what they load; 0 for any number of taps.
template <int kVectors, int kPlaces, int kTaps, int kStep>
FXJIT_INLINE void add_taps(const DepthwiseRow& row, const float* from,
                           const float* weight, int64_t taps,
                           Vector (&sums)[kVectors * kPlaces]) {
  const int64_t tap_step = row.tap_step[2], channels = row.channels;
  if constexpr (kTaps > 0) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vector factor[kTaps];
#pragma GCC unroll 8
      for (int w = 0; w < kTaps; ++w)
        factor[w] = load(weight + w * channels + v * FXJIT_LANES);
#pragma GCC unroll 32
      for (int p = 0; p < (kPlaces - 1) * kStep + kTaps; ++p) {
        const Vector x = load(from + p * tap_step + v * FXJIT_LANES);
#pragma GCC unroll 8
        for (int w = 0; w < kTaps; ++w)
          if (p >= w && (p - w) % kStep == 0 && (p - w) / kStep < kPlaces)
            sums[(p - w) / kStep * kVectors + v] += factor[w] * x;
      }
    }
  } else {
    for (int64_t w = 0; w < taps; ++w, from += tap_step, weight += channels)
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const Vector factor = load(weight + v * FXJIT_LANES);
#pragma GCC unroll 16
        for (int j = 0; j < kPlaces; ++j)
          sums[j * kVectors + v] +=
              factor * load(from + j * row.place_step + v * FXJIT_LANES);
      }
  }
}

// kPlaces places side by side that see the taps `width` of each row.
template <int kVectors, int kPlaces, int kTaps, int kStep>
FXJIT_INLINE void block(const DepthwiseRow& row, int64_t place, int64_t channel,
                        TapRange width) {
  constexpr int kSums = kVectors * kPlaces;
  const int64_t channels = row.channels;
  Vector sums[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i)
    sums[i] = row.bias ? load(row.bias + channel + i % kVectors * FXJIT_LANES)
                       : Vector{};
  const float* corner = row.input + place * row.place_step + channel +
                        width.first * row.tap_step[2];
  const float* weights = row.weight + channel + width.first * channels;
  for (int64_t d = row.taps[0].first; d < row.taps[0].last; ++d)
    for (int64_t h = row.taps[1].first; h < row.taps[1].last; ++h)
      add_taps<kVectors, kPlaces, kTaps, kStep>(
          row, corner + d * row.tap_step[0] + h * row.tap_step[1],
          weights + (d * row.kernel[1] + h) * row.kernel[2] * channels,
          width.last - width.first, sums);
  for (int64_t i = 0; i < row.work.count; ++i)
    apply(row.work.ops[i], sums, [&](int tensor, int at) FXJIT_FORCED {
      return load(row.work.extras[tensor] + channel +
                  (place + at / kVectors) * row.work.steps[tensor] +
                  at % kVectors * FXJIT_LANES);
    });
  float* to = row.output + place * channels + channel;
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i)
    store(sums[i], to + i / kVectors * channels + i % kVectors * FXJIT_LANES);
}

// One place; a function of its own, since many loops end in it.
template <int kVectors>
[[gnu::noinline]] void one_place(const DepthwiseRow& row, int64_t place,
                                 int64_t channel, TapRange width) {
  block<kVectors, 1, 0, 0>(row, place, channel, width);
}

// Places that see all taps; the last block may compute some of them anew.
template <int kVectors, int kPlaces, int kTaps, int kStep>
inline void whole_places(const DepthwiseRow& row, int64_t channel) {
  const TapRange all{0, row.kernel[2]};
  int64_t place = row.whole.first;
  for (; place + kPlaces <= row.whole.last; place += kPlaces)
    block<kVectors, kPlaces, kTaps, kStep>(row, place, channel, all);
  if (place >= row.whole.last) return;
  if (row.whole.last - row.whole.first >= kPlaces)
    return block<kVectors, kPlaces, kTaps, kStep>(row, row.whole.last - kPlaces,
                                                  channel, all);
  for (; place < row.whole.last; ++place)
    one_place<kVectors>(row, place, channel, all);
}

template <int kVectors, int kPlaces>
inline void middle(const DepthwiseRow& row, int64_t channel) {
  const bool dense = row.place_step == row.tap_step[2];
  const bool half = row.place_step == 2 * row.tap_step[2];
  const int64_t taps = row.kernel[2];
  if (taps == 3 && dense)
    return whole_places<kVectors, kPlaces, 3, 1>(row, channel);
  if (taps == 3 && half)
    return whole_places<kVectors, kPlaces, 3, 2>(row, channel);
  if (taps == 5 && dense)
    return whole_places<kVectors, kPlaces, 5, 1>(row, channel);
  if (taps == 5 && half)
    return whole_places<kVectors, kPlaces, 5, 2>(row, channel);
  whole_places<kVectors, kPlaces, 0, 0>(row, channel);
}

// Places at the ends, where windows reach into the padding.
template <int kVectors>
inline void ends(const DepthwiseRow& row, int64_t channel) {
  for (int64_t place = 0; place < row.whole.first; ++place)
    one_place<kVectors>(row, place, channel, row.columns[place]);
  for (int64_t place = row.whole.last; place < row.places; ++place)
    one_place<kVectors>(row, place, channel, row.columns[place]);
}
