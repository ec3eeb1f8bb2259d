// Vectors of FXJIT_LANES floats and what PostWork does to them: included by
// loops that are compiled once per vector width, in a namespace of each. Every
// comparison is written such that NaN stays NaN.

using Vector [[gnu::vector_size(FXJIT_LANES * sizeof(float))]] = float;
using Integers [[gnu::vector_size(FXJIT_LANES * sizeof(int32_t))]] = int32_t;

FXJIT_INLINE Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

FXJIT_INLINE void store(Vector v, float* to) {
  std::memcpy(to, &v, sizeof(v));
}

FXJIT_INLINE Vector clip(Vector x, float low, float high) {
  x = x < low ? Vector{} + low : x;
  return x > high ? Vector{} + high : x;
}

// 2^n e^r with |r| at most ln(2) / 2; |x| at most 87.
FXJIT_INLINE Vector exponential(Vector x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: rounds to integers.
  constexpr int32_t kRoundBits = 0x4b400000, kBias = 127, kFractionBits = 23;
  const Vector shifted = x * 1.44269504088896341f + kRound;
  const Vector n = shifted - kRound;
  Vector r = x - n * 0.693145751953125f;
  r -= n * 1.42860682030941723212e-6f;
  Vector p = r * (1.0f / 720) + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.0f;
  Integers bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - kRoundBits + kBias) << kFractionBits;
  Vector scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return p * scale;
}

// Below -87 the result is e^-87 in place of less, 1.6e-38.
FXJIT_INLINE Vector sigmoid(Vector x) {
  return 1.0f / (1.0f + exponential(-clip(x, -87.0f, 87.0f)));
}

// One op on kCount vectors; `extra(tensor, i)` gives the operand of vector i.
template <int kCount, typename Extra>
FXJIT_INLINE void apply(const ops::PostOp& op, Vector (&x)[kCount],
                        Extra&& extra) {
  using ops::PostKind;
  const float a = op.a, b = op.b;
#define FXJIT_EACH(result)                    \
  _Pragma("GCC unroll 16")                    \
  for (int i = 0; i < kCount; ++i) x[i] = result; \
  break
  switch (op.kind) {
    case PostKind::relu:
      FXJIT_EACH(x[i] < 0.0f ? Vector{} : x[i]);
    case PostKind::leaky_relu:
      FXJIT_EACH(x[i] > 0.0f ? x[i] : x[i] * a);
    case PostKind::clip:
      FXJIT_EACH(clip(x[i], a, b));
    case PostKind::hardsigmoid:
      FXJIT_EACH(clip(x[i] + 3.0f, 0.0f, 6.0f) * (1.0f / 6));
    case PostKind::hardswish:
      FXJIT_EACH(x[i] * clip(x[i] + 3.0f, 0.0f, 6.0f) * (1.0f / 6));
    case PostKind::sigmoid:
      FXJIT_EACH(sigmoid(x[i]));
    case PostKind::silu:
      FXJIT_EACH(x[i] * sigmoid(x[i]));
    case PostKind::affine:
      FXJIT_EACH(x[i] * a + b);
    case PostKind::add:
      FXJIT_EACH(x[i] + extra(op.tensor, i));
    case PostKind::multiply:
      FXJIT_EACH(x[i] * extra(op.tensor, i));
  }
#undef FXJIT_EACH
}
