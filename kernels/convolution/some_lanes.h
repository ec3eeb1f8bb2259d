// Some lanes of a vector and memory that may end behind them: included after
// vector_loops.h.

FXJIT_INLINE Integers load_lanes(const int32_t* from) {
  Integers v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

// The lanes whose `mask` is -1; others are zero, and not read.
FXJIT_INLINE Vector load_some(const float* from, Integers mask) {
#if FXJIT_LANES == 16
  return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(
      _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)), from));
#elif FXJIT_LANES == 8
  return reinterpret_cast<Vector>(
      _mm256_maskload_ps(from, reinterpret_cast<__m256i>(mask)));
#else
  Vector v{};
  for (int i = 0; i < FXJIT_LANES; ++i)
    if (mask[i]) v[i] = from[i];
  return v;
#endif
}

#if FXJIT_LANES >= 8
// The first `count` lanes, fewer than all below AVX-512. AMD's masked stores
// without AVX-512 take longer than a store for each bit of the number.
FXJIT_INLINE void store_first(Vector v, float* to, int32_t count) {
#if FXJIT_LANES == 16
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1),
                        reinterpret_cast<__m512>(v));
#else
  const auto whole = reinterpret_cast<__m256>(v);
  __m128 half = _mm256_castps256_ps128(whole);
  if (count & 4) {
    _mm_storeu_ps(to, half);
    half = _mm256_extractf128_ps(whole, 1);
    to += 4;
  }
  if (count & 2) {
    _mm_storel_pi(reinterpret_cast<__m64*>(to), half);
    half = _mm_movehl_ps(half, half);
    to += 2;
  }
  if (count & 1) _mm_store_ss(to, half);
#endif
}
#endif
