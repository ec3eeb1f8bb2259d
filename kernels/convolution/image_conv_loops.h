// The loops of image_conv.cpp, once per CPU level and vector width
// (vector_widths.h).

#include "kernels/vector_loops.h"

// Vectors of features: of the first one, and from each to the next, which may
// overlap.
struct Features {
  int64_t first, apart = FXJIT_LANES;
};

// kPlaces places side by side that see the taps `width` of each row, kVectors
// vectors of features. kStep: floats of the image from place to place, kTaps:
// taps of the width, where the compiler shall know, else 0.
template <int kVectors, int kPlaces, int kStep, int kTaps>
FXJIT_INLINE void block(const ImageRow& row, int64_t place, Features at,
                        TapRange width) {
  constexpr int kSums = kVectors * kPlaces;
  const int64_t features = row.features, feature = at.first, apart = at.apart;
  const int64_t place_step = kStep > 0 ? kStep : row.place_step;
  Vector sums[kSums];
#pragma GCC unroll 32
  for (int i = 0; i < kSums; ++i)
    sums[i] =
        row.bias ? load(row.bias + feature + i % kVectors * apart) : Vector{};
  for (int64_t d = row.taps[0].first; d < row.taps[0].last; ++d)
    for (int64_t h = row.taps[1].first; h < row.taps[1].last; ++h)
      for (int64_t c = 0; c < row.channels; ++c) {
        const float* from = row.input + place * place_step +
                            d * row.tap_step[0] + h * row.tap_step[1] +
                            c * row.channel_step +
                            width.first * row.tap_step[2];
        const int64_t line = (d * row.kernel[1] + h) * row.channels + c;
        const float* weight = row.weight + feature +
                              (line * row.kernel[2] + width.first) * features;
        const auto add_tap = [&]() FXJIT_FORCED {
          Vector factor[kVectors];
#pragma GCC unroll 8
          for (int v = 0; v < kVectors; ++v)
            factor[v] = load(weight + v * apart);
#pragma GCC unroll 16
          for (int p = 0; p < kPlaces; ++p) {
            // Less zero, which leaves every number as it is.
            const Vector x = from[p * place_step] - Vector{};
#pragma GCC unroll 8
            for (int v = 0; v < kVectors; ++v)
              sums[p * kVectors + v] += factor[v] * x;
          }
          from += row.tap_step[2];
          weight += features;
        };
        if constexpr (kTaps > 0) {
#pragma GCC unroll 4
          for (int w = 0; w < kTaps; ++w) add_tap();
        } else {
          for (int64_t w = width.first; w < width.last; ++w) add_tap();
        }
      }
  float* to = row.output + place * features + feature;
#pragma GCC unroll 32
  for (int i = 0; i < kSums; ++i)
    store(sums[i], to + i / kVectors * features + i % kVectors * apart);
}

// One place; a function of its own, since several loops end in it.
template <int kVectors>
[[gnu::noinline]] void one_place(const ImageRow& row, int64_t place,
                                 Features at, TapRange width) {
  block<kVectors, 1, 0, 0>(row, place, at, width);
}

// Places that see all taps; the last block may compute some of them anew.
template <int kVectors, int kPlaces, int kStep, int kTaps>
[[gnu::noinline]] void whole_places(const ImageRow& row, Features at) {
  const TapRange all{0, row.kernel[2]};
  int64_t place = row.whole.first;
  for (; place + kPlaces <= row.whole.last; place += kPlaces)
    block<kVectors, kPlaces, kStep, kTaps>(row, place, at, all);
  if (place == row.whole.last) return;
  if (row.whole.last - row.whole.first >= kPlaces)
    return block<kVectors, kPlaces, kStep, kTaps>(row, row.whole.last - kPlaces,
                                                  at, all);
  for (; place < row.whole.last; ++place)
    one_place<kVectors>(row, place, at, all);
}

// A row's features of kVectors vectors.
template <int kVectors, int kPlaces>
inline void some_features(const ImageRow& row, Features at) {
  for (int64_t place = 0; place < row.whole.first; ++place)
    one_place<kVectors>(row, place, at, row.columns[place]);
  if (row.place_step == 2 && row.kernel[2] == 3)
    whole_places<kVectors, kPlaces, 2, 3>(row, at);
  else if (row.place_step == 2)
    whole_places<kVectors, kPlaces, 2, 0>(row, at);
  else if (row.place_step == 1)
    whole_places<kVectors, kPlaces, 1, 0>(row, at);
  else
    whole_places<kVectors, kPlaces, 0, 0>(row, at);
  for (int64_t place = row.whole.last; place < row.places; ++place)
    one_place<kVectors>(row, place, at, row.columns[place]);
}
