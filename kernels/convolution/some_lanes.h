// Some lanes of a vector and memory that may end behind them: included after
// post_work_loops.h, for vectors of eight or sixteen floats.

FXJIT_INLINE Integers load_lanes(const int32_t* from) {
  Integers v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

// The lanes whose `mask` is -1; others are zero.
FXJIT_INLINE Vector load_some(const float* from, Integers mask) {
#if FXJIT_LANES == 16
  return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(
      _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)), from));
#else
  return reinterpret_cast<Vector>(
      _mm256_maskload_ps(from, reinterpret_cast<__m256i>(mask)));
#endif
}

FXJIT_INLINE void store_some(Vector v, float* to, Integers mask) {
#if FXJIT_LANES == 16
  _mm512_mask_storeu_ps(to,
                        _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)),
                        reinterpret_cast<__m512>(v));
#else
  _mm256_maskstore_ps(to, reinterpret_cast<__m256i>(mask),
                      reinterpret_cast<__m256>(v));
#endif
}
