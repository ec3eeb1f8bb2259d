// Vectors of FXJIT_LANES floats: included by loops that are compiled once per
// vector width, in a namespace of each. Every comparison is written such that
// NaN stays NaN.

using Vector [[gnu::vector_size(FXJIT_LANES * sizeof(float))]] = float;
using Integers [[gnu::vector_size(FXJIT_LANES * sizeof(int32_t))]] = int32_t;

FXJIT_INLINE Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

// For what several multiply-adds read: compilers would load it once for each of
// them, and reads that cross the end of a cache line count as two.
FXJIT_INLINE Vector load_once(const float* from) {
  Vector v = load(from);
  asm("" : "+v"(v));
  return v;
}

FXJIT_INLINE void store(Vector v, float* to) { std::memcpy(to, &v, sizeof(v)); }

FXJIT_INLINE Vector clip(Vector x, float low, float high) {
  x = x < low ? Vector{} + low : x;
  return x > high ? Vector{} + high : x;
}

// e^x = scale * (1 + rest) with scale = 2^n and 1 + rest = e^r, |r| at most
// ln(2) / 2, by its series; |x| at most 88.
struct Exponential {
  Vector rest, scale;
};
FXJIT_INLINE Exponential exponential(Vector x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: rounds to integers.
  constexpr int32_t kRoundBits = 0x4b400000, kBias = 127, kFractionBits = 23;
  constexpr float kLog2 = 1.44269504088896341f;
  constexpr float kLn2High = 0.693145751953125f, kLn2Low = 1.42860682e-6f;
  const Vector shifted = x * kLog2 + kRound;
  const Vector n = shifted - kRound;
  const Vector r = (x - n * kLn2High) - n * kLn2Low;
  Vector p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  Integers bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - kRoundBits + kBias) << kFractionBits;
  Vector scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return {p * (r * r) + r, scale};
}

// 1 / x for numbers that are not near the ends of what floats hold.
FXJIT_INLINE Vector reciprocal(Vector x) {
#if FXJIT_LANES == 16
  // An estimate of 14 bits and one step of Newton's: half a division's time.
  const Vector y = reinterpret_cast<Vector>(
      _mm512_maskz_rcp14_ps(0xffff, reinterpret_cast<__m512>(x)));
  return y + y * (1.0f - x * y);
#else
  return 1.0f / x;
#endif
}

// 1 / (1 + e^-x), zero where e^-x is near the end of what floats hold.
FXJIT_INLINE Vector sigmoid(Vector x) {
  constexpr float kEnd = 88;
  const Exponential e = exponential(clip(-x, -kEnd, kEnd));
  const Vector y = reciprocal(1.0f + (e.rest + 1.0f) * e.scale);
  return x < -kEnd ? Vector{} : y;
}
