// Channels of places that lie apart become vectors of places, and back: for
// loops with vectors of sixteen or eight floats.
#include "kernels/vector_loops.h"

FXJIT_INLINE uint16_t mask_of(Integers lanes) {
#if FXJIT_LANES == 16
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(lanes));
#else
  return static_cast<uint16_t>(
      _mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
#endif
}

FXJIT_INLINE Integers numbers(int64_t n) {
  return Integers{} + static_cast<int32_t>(n);
}

// Calls work(channel) for every four channels of at least four; the last ones
// may be met again.
template <typename Work>
FXJIT_INLINE void each_four(int64_t channels, Work&& work) {
  for (int64_t c = 0; c < channels; c += 4) work(std::min(c, channels - 4));
}

#if FXJIT_LANES == 8
// For each mask of eight lanes, the numbers of those that it has, one a byte.
constexpr std::array<uint64_t, 256> lanes_of_masks() {
  std::array<uint64_t, 256> made{};
  for (size_t mask = 0; mask < made.size(); ++mask)
    for (uint64_t lane = 0, at = 0; lane < 8; ++lane)
      if (mask >> lane & 1) made[mask] |= lane << (8 * at++);
  return made;
}
inline constexpr std::array<uint64_t, 256> kLanesOfMasks = lanes_of_masks();
#endif

// The used lanes side by side.
FXJIT_INLINE Vector gather_used(Vector x, uint16_t used) {
  if (used == (1 << FXJIT_LANES) - 1) return x;
#if FXJIT_LANES == 16
  return reinterpret_cast<Vector>(
      _mm512_maskz_compress_ps(used, reinterpret_cast<__m512>(x)));
#else
  const auto bytes = static_cast<long long>(kLanesOfMasks[used]);
  return reinterpret_cast<Vector>(
      _mm256_permutevar8x32_ps(reinterpret_cast<__m256>(x),
                               _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes))));
#endif
}

// In each quarter of sixteen lanes, or half of eight, of two vectors: the first
// or the last two lanes of both by turns, and the even or the odd pairs of
// lanes of both.
#if FXJIT_LANES == 16
#define FXJIT_FOURS(a, b, i, j, k, l)                                          \
  __builtin_shufflevector(a, b, i, j, k, l, i + 4, j + 4, k + 4, l + 4, i + 8, \
                          j + 8, k + 8, l + 8, i + 12, j + 12, k + 12, l + 12)
#else
#define FXJIT_FOURS(a, b, i, j, k, l) \
  __builtin_shufflevector(a, b, i, j, k, l, i + 4, j + 4, k + 4, l + 4)
#endif
FXJIT_INLINE Vector low(Vector a, Vector b) {
  return FXJIT_FOURS(a, b, 0, FXJIT_LANES, 1, FXJIT_LANES + 1);
}
FXJIT_INLINE Vector high(Vector a, Vector b) {
  return FXJIT_FOURS(a, b, 2, FXJIT_LANES + 2, 3, FXJIT_LANES + 3);
}
FXJIT_INLINE Vector even_pairs(Vector a, Vector b) {
  return FXJIT_FOURS(a, b, 0, 1, FXJIT_LANES, FXJIT_LANES + 1);
}
FXJIT_INLINE Vector odd_pairs(Vector a, Vector b) {
  return FXJIT_FOURS(a, b, 2, 3, FXJIT_LANES + 2, FXJIT_LANES + 3);
}
#undef FXJIT_FOURS

// In each of those parts of four vectors, rows become columns.
FXJIT_INLINE void turn(Vector (&x)[4]) {
  const Vector low0 = low(x[0], x[1]), low2 = low(x[2], x[3]);
  const Vector high0 = high(x[0], x[1]), high2 = high(x[2], x[3]);
  x[0] = even_pairs(low0, low2);
  x[1] = odd_pairs(low0, low2);
  x[2] = even_pairs(high0, high2);
  x[3] = odd_pairs(high0, high2);
}

// Four floats, number k of a vector.
template <int k>
FXJIT_INLINE void store_part(Vector x, float* to) {
#if FXJIT_LANES == 16
  _mm_storeu_ps(
      to, _mm512_maskz_extractf32x4_ps(0xf, reinterpret_cast<__m512>(x), k));
#else
  _mm_storeu_ps(to, _mm256_extractf128_ps(reinterpret_cast<__m256>(x), k));
#endif
}

// The first `count` places of a vector, with part k of x[i] of place 4 k + i.
FXJIT_INLINE void write_four(const Vector (&x)[4], float* to, int64_t step,
                             int count) {
  if (count == FXJIT_LANES) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      store_part<0>(x[i], to + i * step);
      store_part<1>(x[i], to + (4 + i) * step);
#if FXJIT_LANES == 16
      store_part<2>(x[i], to + (8 + i) * step);
      store_part<3>(x[i], to + (12 + i) * step);
#endif
    }
    return;
  }
  alignas(64) float places[4][FXJIT_LANES];
  for (int i = 0; i < 4; ++i) store(x[i], places[i]);
  for (int p = 0; p < count; ++p)
    std::memcpy(to + p * step, &places[p % 4][p / 4 * 4], 4 * sizeof(float));
}

// Part k of the vector is what part(k) loads.
template <typename Part>
FXJIT_INLINE Vector load_parts(Part&& part) {
#if FXJIT_LANES == 16
  __m512 v = _mm512_castps128_ps512(part(0));
  v = _mm512_maskz_insertf32x4(0xffff, v, part(1), 1);
  v = _mm512_maskz_insertf32x4(0xffff, v, part(2), 2);
  v = _mm512_maskz_insertf32x4(0xffff, v, part(3), 3);
#else
  const __m256 v =
      _mm256_insertf128_ps(_mm256_castps128_ps256(part(0)), part(1), 1);
#endif
  return reinterpret_cast<Vector>(v);
}

// At least four channels of a vector's places, whose addresses `place` gives,
// to planes that lie `plane` apart.
template <typename Place>
FXJIT_INLINE void turn_places(Place&& place, int64_t channels, float* to,
                              int64_t plane) {
  each_four(channels, [&](int64_t channel) FXJIT_FORCED {
    Vector x[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      x[i] = load_parts([&](int k) FXJIT_FORCED {
        return _mm_loadu_ps(place(4 * k + i) + channel);
      });
    turn(x);
    for (int i = 0; i < 4; ++i) store(x[i], to + (channel + i) * plane);
  });
}

// Rows of places, and where they go in planes: row after row, `pitch` apart.
// Fewer floats than a vector has behind them are written, too.
struct PlaneRows {
  const float* first;
  int64_t rows, columns;          // One at least.
  int64_t row_step, column_step;  // In floats.
  int64_t pitch;                  // At least `columns` if there are rows.
};

inline void turn_rows(const PlaneRows& from, int64_t channels, float* to,
                      int64_t plane) {
  int64_t at = 0;
  if (from.rows == 1)
    for (; at + FXJIT_LANES <= from.columns; at += FXJIT_LANES) {
      const float* first = from.first + at * from.column_step;
      turn_places([&](int i)
                      FXJIT_FORCED { return first + i * from.column_step; },
                  channels, to + at, plane);
    }
  const float* row = from.first;
  int64_t left = from.rows - 1, column = at;
  const int64_t end = left * from.pitch + from.columns;
  for (; at < end; at += FXJIT_LANES) {
    const float* places[FXJIT_LANES];
    for (const float*& place : places) {
      place = row + std::min(column, from.columns - 1) * from.column_step;
      if (++column == from.pitch && left > 0) {
        column = 0, --left;
        row += from.row_step;
      }
    }
    turn_places([&](int i) FXJIT_FORCED { return places[i]; }, channels,
                to + at, plane);
  }
}
