// Channels of places that lie apart become vectors of places, and back: for
// loops with vectors of sixteen floats.
#include "kernels/convolution/post_work_loops.h"

FXJIT_INLINE uint16_t mask_of(Integers lanes) {
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(lanes));
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

// The used lanes side by side.
FXJIT_INLINE Vector gather_used(Vector x, uint16_t used) {
  if (used == 0xffff) return x;
  return reinterpret_cast<Vector>(
      _mm512_maskz_compress_ps(used, reinterpret_cast<__m512>(x)));
}

// `count` numbers that lie `apart`.
FXJIT_INLINE Vector load_apart(const float* from, int64_t apart, int count) {
  Vector x{};
  for (int i = 0; i < count; ++i) x[i] = from[i * apart];
  return x;
}

// In each quarter of two vectors: the first or the last two lanes of both by
// turns, and the even or the odd pairs of lanes of both.
FXJIT_INLINE Vector low(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25,
                                 12, 28, 13, 29);
}
FXJIT_INLINE Vector high(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11,
                                 27, 14, 30, 15, 31);
}
FXJIT_INLINE Vector even_pairs(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25,
                                 12, 13, 28, 29);
}
FXJIT_INLINE Vector odd_pairs(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26,
                                 27, 14, 15, 30, 31);
}

// In each quarter of four vectors, rows become columns.
FXJIT_INLINE void turn(Vector (&x)[4]) {
  const Vector low0 = low(x[0], x[1]), low2 = low(x[2], x[3]);
  const Vector high0 = high(x[0], x[1]), high2 = high(x[2], x[3]);
  x[0] = even_pairs(low0, low2);
  x[1] = odd_pairs(low0, low2);
  x[2] = even_pairs(high0, high2);
  x[3] = odd_pairs(high0, high2);
}

// The first `count` of sixteen places, with quarter k of vector i of place
// 4 k + i.
inline void write_four(const Vector (&x)[4], float* to, int64_t step,
                       int count) {
  if (count == FXJIT_LANES) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const auto v = reinterpret_cast<__m512>(x[i]);
      _mm_storeu_ps(to + i * step, _mm512_maskz_extractf32x4_ps(0xf, v, 0));
      _mm_storeu_ps(to + (4 + i) * step,
                    _mm512_maskz_extractf32x4_ps(0xf, v, 1));
      _mm_storeu_ps(to + (8 + i) * step,
                    _mm512_maskz_extractf32x4_ps(0xf, v, 2));
      _mm_storeu_ps(to + (12 + i) * step,
                    _mm512_maskz_extractf32x4_ps(0xf, v, 3));
    }
    return;
  }
  alignas(64) float places[4][FXJIT_LANES];
  for (int i = 0; i < 4; ++i) store(x[i], places[i]);
  for (int p = 0; p < count; ++p)
    std::memcpy(to + p * step, &places[p % 4][p / 4 * 4], 4 * sizeof(float));
}

// At least four channels of sixteen places, whose addresses `place` gives, to
// planes that lie `plane` apart.
template <typename Place>
FXJIT_INLINE void turn_places(Place&& place, int64_t channels, float* to,
                              int64_t plane) {
  each_four(channels, [&](int64_t channel) FXJIT_FORCED {
    // Quarter k of vector i is of place 4 k + i.
    Vector x[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const auto quarter = [&](int k) FXJIT_FORCED {
        return _mm_loadu_ps(place(4 * k + i) + channel);
      };
      __m512 v = _mm512_castps128_ps512(quarter(0));
      v = _mm512_maskz_insertf32x4(0xffff, v, quarter(1), 1);
      v = _mm512_maskz_insertf32x4(0xffff, v, quarter(2), 2);
      v = _mm512_maskz_insertf32x4(0xffff, v, quarter(3), 3);
      x[i] = reinterpret_cast<Vector>(v);
    }
    turn(x);
    for (int i = 0; i < 4; ++i) store(x[i], to + (channel + i) * plane);
  });
}

// Rows of places, and where they go in planes: row after row, `pitch` apart.
// Fewer than sixteen floats behind them are written, too.
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
