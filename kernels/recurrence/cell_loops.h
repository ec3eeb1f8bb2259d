// What the cells of recurrent layers do to their sums. Included by loops.h,
// once per CPU level.

// (e^2x - 1) / (e^2x + 1) for |x|, with the sign of x; e^2x - 1 by the series
// less its one, so that small numbers stay exact.
FXJIT_INLINE Vector hyperbolic_tangent(Vector x) {
  constexpr float kEnd = 18;
  Integers bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const Integers sign = bits & INT32_MIN;
  Vector y;
  bits &= INT32_MAX;
  std::memcpy(&y, &bits, sizeof(y));
  y = y + y;
  const Exponential e = exponential(y > kEnd ? Vector{} + kEnd : y);
  const Vector less = e.rest * e.scale + (e.scale - 1.0f);
  Vector result = less * reciprocal(less + 2.0f);
  std::memcpy(&bits, &result, sizeof(bits));
  bits |= sign;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

FXJIT_INLINE Vector load_some(const float* from, int64_t count) {
  if (count >= FXJIT_LANES) return load(from);
  Vector v{};
  std::memcpy(&v, from, static_cast<size_t>(count) * sizeof(float));
  return v;
}

FXJIT_INLINE void store_some(Vector v, float* to, int64_t count) {
  if (count >= FXJIT_LANES) return store(v, to);
  std::memcpy(to, &v, static_cast<size_t>(count) * sizeof(float));
}

// Vectors of hidden units whose first is `unit`.
template <StepWork kWork>
struct Units {
  static constexpr int kVectors = vectors_of(kWork);
  static constexpr bool kGated =
      kWork == StepWork::lstm || kWork == StepWork::gru;

  int64_t unit;

  explicit Units(int64_t panel)
      : unit(panel * FXJIT_LANES * (kGated ? 1 : kVectors)) {}

  // Where the packed biases of the first vector stand.
  int64_t line() const { return unit * (kGated ? kVectors : 1); }
  // The first unit of vector v, and how many units of it there are.
  int64_t at(int v) const { return kGated ? unit : unit + v * FXJIT_LANES; }
  int64_t left(const RecurrentStep& s, int v) const {
    const int64_t count = s.units - at(v);
    return count < 0 ? 0 : count;
  }
  // What given gates hold for vector v of a row.
  Vector given(const RecurrentStep& s, int64_t row, int v) const {
    const int64_t gate = kGated ? s.order.place[static_cast<size_t>(v)] : 0;
    return load_some(s.gates[row] + gate * s.units + at(v), left(s, v));
  }
};

// `fresh_input` is what the input gives to the new gate of a GRU; the sum of
// that gate has the rest.
FXJIT_INLINE void put(const RecurrentStep& s, int64_t row, int64_t unit,
                      int64_t left, Vector value) {
  if (left > 0) store(value, s.next + row * s.next_row + unit);
  if (s.output && left > 0) store_some(value, s.output[row] + unit, left);
}

template <StepWork kWork>
FXJIT_INLINE void finish(const RecurrentStep& s, Units<kWork> units,
                         int64_t row, const Vector* sums, Vector fresh_input) {
  const int64_t unit = units.unit;
  if constexpr (kWork == StepWork::lstm) {
    float* cell = s.cell + row * s.cell_row + unit;
    const Vector in = sigmoid(sums[0]), forget = sigmoid(sums[1]);
    const Vector c = forget * load(cell) + in * hyperbolic_tangent(sums[2]);
    store(c, cell);
    const Vector out = sigmoid(sums[3]) * hyperbolic_tangent(c);
    put(s, row, unit, units.left(s, 0), out);
  } else if constexpr (kWork == StepWork::gru) {
    const Vector reset = sigmoid(sums[0]), update = sigmoid(sums[1]);
    const Vector fresh = hyperbolic_tangent(fresh_input + reset * sums[2]);
    const Vector old = load(s.state + row * s.state_row + unit);
    put(s, row, unit, units.left(s, 0), (old - fresh) * update + fresh);
  } else {
#pragma GCC unroll 4
    for (int v = 0; v < units.kVectors; ++v) {
      Vector x = sums[v];
      if constexpr (kWork == StepWork::tanh) x = hyperbolic_tangent(x);
      if constexpr (kWork == StepWork::relu) x = x < 0.0f ? Vector{} : x;
      put(s, row, units.at(v), units.left(s, v), x);
    }
  }
}
