// Steps whose states and weights have 8 bits, with exact sums. Included by
// loops.h.
//
// A number q of the states is taken less 128: its magnitude is at most 128 and
// goes into the products, its sign into the weights, of which those of negative
// numbers are inverted bit by bit (-w - 1). Two products of a magnitude and a
// weight fit into 16 bits whatever they are, so that nothing saturates.

FXJIT_INLINE Integers load_quads(const void* from) {
  Integers v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

FXJIT_INLINE Integers each_quad(const uint8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return Integers{} + quad;
}

// For each lane the sum of the four products of its bytes: of unsigned and of
// signed ones.
FXJIT_INLINE Integers quad_sums(Integers magnitudes, Integers weights) {
#if FXJIT_LANES == 16
  return (Integers)_mm512_madd_epi16(
      _mm512_maddubs_epi16((__m512i)magnitudes, (__m512i)weights),
      _mm512_set1_epi16(1));
#elif FXJIT_LANES == 8
  return (Integers)_mm256_madd_epi16(
      _mm256_maddubs_epi16((__m256i)magnitudes, (__m256i)weights),
      _mm256_set1_epi16(1));
#else
  const auto a = (__m128i)magnitudes, w = (__m128i)weights;
  const __m128i even = _mm_madd_epi16(_mm_and_si128(a, _mm_set1_epi16(0xff)),
                                      _mm_srai_epi16(_mm_slli_epi16(w, 8), 8));
  const __m128i odd =
      _mm_madd_epi16(_mm_srli_epi16(a, 8), _mm_srai_epi16(w, 8));
  return (Integers)_mm_add_epi32(even, odd);
#endif
}

// The low byte of each lane, which compilers pick one by one.
FXJIT_INLINE void store_bytes(Integers v, uint8_t* to) {
  v &= 0xff;
#if FXJIT_LANES == 16
  const __m128i bytes = _mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)v);
#elif FXJIT_LANES == 8
  const __m128i pairs =
      _mm_packs_epi32(_mm256_castsi256_si128((__m256i)v),
                      _mm256_extracti128_si256((__m256i)v, 1));
  const __m128i bytes = _mm_packus_epi16(pairs, pairs);
#else
  const __m128i pairs = _mm_packs_epi32((__m128i)v, (__m128i)v);
  const __m128i bytes = _mm_packus_epi16(pairs, pairs);
#endif
  std::memcpy(to, &bytes, FXJIT_LANES);
}

// Ones in the lanes before `count`.
FXJIT_INLINE Integers lanes_before(int64_t count) {
  Integers lanes{};
#pragma GCC unroll 16
  for (int i = 0; i < FXJIT_LANES; ++i) lanes[i] = i;
  return lanes < static_cast<int32_t>(std::min<int64_t>(count, FXJIT_LANES));
}

struct StateRange {
  float low = 0, high = 0;
  float zeros = 0;  // NaN where a number is not finite.
};

FXJIT_INLINE StateRange range_of(const float* x, int64_t count) {
  Vector low{}, high{}, zeros{};
  for (int64_t k = 0; k < count; k += FXJIT_LANES) {
    const Vector v = load_some(x + k, count - k);
    low = v < low ? v : low;
    high = v > high ? v : high;
    zeros += v * 0.0f;
  }
  StateRange range;
  for (int i = 0; i < FXJIT_LANES; ++i) {
    range.low = std::min(range.low, low[i]);
    range.high = std::max(range.high, high[i]);
    range.zeros += zeros[i];
  }
  return range;
}

// Writes the magnitudes and signs of `count` states in 8 bits, and what sums of
// them lack.
FXJIT_INLINE StateNumbers quantise_row(const float* x, int64_t count,
                                       uint8_t* magnitudes, uint8_t* signs) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: rounds to integers.
  const StateRange range = range_of(x, count);
  const float scale =
      (range.low == range.high ? 1.0f : (range.high - range.low) / 255.0f) +
      range.zeros;
  const Vector exact = -range.low / scale - Vector{};
  const Vector zero = (exact > 0.0f ? exact : Vector{}) + kRound - kRound;
  Integers negative{}, sum{};
  for (int64_t k = 0; k < count; k += FXJIT_LANES) {
    const Vector v = load_some(x + k, count - k);
    Vector q = (v / scale + kRound - kRound) + zero;
    q = q > 0.0f ? q : Vector{};
    q = q < 255.0f ? q : Vector{} + 255.0f;
    Integers y = __builtin_convertvector(q, Integers) - 128;
    y &= lanes_before(count - k);
    const Integers sign = y >> 31, magnitude = (y ^ sign) - sign;
    negative += magnitude & sign, sum += y;
    store_bytes(magnitude, magnitudes + k);
    store_bytes(sign, signs + k);
  }
  const auto shift = 128 - static_cast<int32_t>(zero[0] <= 255 ? zero[0] : 255);
  StateNumbers made{scale, 0, shift, static_cast<int32_t>(count) * shift};
  for (int i = 0; i < FXJIT_LANES; ++i)
    made.negative += negative[i], made.sum += sum[i];
  return made;
}

inline void quantise_rows(const RecurrentStep& s) {
  const StateIntegers& to = s.integers;
  for (int64_t r = 0; r < s.rows; ++r) {
    uint8_t* const bytes = to.bytes + 2 * r * to.row;
    to.numbers[r] =
        quantise_row(s.state + r * s.state_row, s.depth, bytes, bytes + to.row);
  }
}

template <StepWork kWork, int kRows>
struct IntegerSums {
  static constexpr int kVectors = vectors_of(kWork);
  static constexpr int64_t kLine = kVectors * FXJIT_LANES;

  Integers of[kRows][kVectors] = {};

  // Quads of weights times those of each row; returns what is behind them.
  FXJIT_INLINE const float* add_all(const float* weights, const uint8_t* bytes,
                                    int64_t row, int64_t quads) {
    for (int64_t q = 0; q < quads; ++q, weights += kLine, bytes += 4)
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Integers magnitudes = each_quad(bytes + 2 * r * row);
        const Integers signs = each_quad(bytes + (2 * r + 1) * row);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
          of[r][v] += quad_sums(magnitudes,
                                load_quads(weights + v * FXJIT_LANES) ^ signs);
      }
    return weights;
  }

  // The product of the row's states and vector v of columns.
  FXJIT_INLINE Vector real(const RecurrentStep& s, Units<kWork> units, int r,
                           const StateNumbers& row, int v,
                           const float* column_sums) const {
    const int64_t line = units.line() + v * FXJIT_LANES;
    const Integers zeros =
        __builtin_convertvector(load(s.integers.zeros + line), Integers);
    const Integers exact =
        of[r][v] + row.negative +
        row.shift * load_quads(column_sums + v * FXJIT_LANES) - row.sum * zeros;
    return __builtin_convertvector(exact, Vector) *
           (row.scale * load(s.integers.scales + line));
  }
};

// What a panel's cells are made of, in working memory: the sums of its vectors
// and, of a GRU, the new gate's product with the inputs.
template <StepWork kWork>
struct KeptSums {
  static constexpr int kVectors = vectors_of(kWork);
  static constexpr int kKept = kVectors + (kWork == StepWork::gru);

  static float* at(const RecurrentStep& s, int64_t panel, int64_t row) {
    return s.integers.sums + row * s.integers.sums_row +
           panel * kKept * FXJIT_LANES;
  }
};

template <StepWork kWork, int kRows>
[[gnu::noinline]] void integer_tile(const RecurrentStep& s, int64_t panel,
                                    int64_t row) {
  const Units<kWork> units(panel);
  IntegerSums<kWork, kRows> products;
  const int64_t quads = (s.depth + 3) / 4;
  const StateIntegers& from = s.integers;
  const float* const column_sums =
      products.add_all(s.packed + panel * (quads + 1) * products.kLine,
                       from.bytes + 2 * row * from.row, from.row, quads);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    Sums<kWork, 1, 1> sums;
#pragma GCC unroll 4
    for (int v = 0; v < sums.kVectors; ++v)
      sums.of[0][v] = first_sum<kWork>(s, units, row + r, v);
    Vector fresh_input{};
    sums.between(s, units, 0, fresh_input);
    float* const to = KeptSums<kWork>::at(s, panel, row + r);
#pragma GCC unroll 4
    for (int v = 0; v < sums.kVectors; ++v)
      store(sums.of[0][v] + products.real(s, units, r, from.numbers[row + r], v,
                                          column_sums),
            to + v * FXJIT_LANES);
    if constexpr (kWork == StepWork::gru)
      store(fresh_input, to + sums.kVectors * FXJIT_LANES);
  }
}

// The cells of all panels, one after the other: each of them waits for its own
// functions, and the next ones are computed meanwhile.
template <StepWork kWork>
inline void finish_kept(const RecurrentStep& s, int64_t panels) {
  using Kept = KeptSums<kWork>;
  for (int64_t row = 0; row < s.rows; ++row)
    for (int64_t panel = 0; panel < panels; ++panel) {
      const float* const from = Kept::at(s, panel, row);
      Vector sums[Kept::kKept];
#pragma GCC unroll 5
      for (int v = 0; v < Kept::kKept; ++v)
        sums[v] = load(from + v * FXJIT_LANES);
      finish<kWork>(s, Units<kWork>(panel), row, sums, sums[Kept::kKept - 1]);
    }
}
