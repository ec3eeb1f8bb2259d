// The loops of step.cpp, which includes this once per CPU level, each
// time in a namespace of its own, under that level's target options, with
// FXJIT_LANES floats to a vector and tiles of at most FXJIT_TILE_SUMS vectors
// of sums. Never included elsewhere.

#include "kernels/convolution/post_work_loops.h"

// (e^2x - 1) / (e^2x + 1) for |x|, with the sign of x; e^2x - 1 by its series,
// so that small numbers stay exact.
FXJIT_INLINE Vector hyperbolic_tangent(Vector x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: rounds to integers.
  constexpr int32_t kRoundBits = 0x4b400000, kBias = 127, kFractionBits = 23;
  constexpr float kLog2 = 1.44269504088896341f, kEnd = 18;
  constexpr float kLn2High = 0.693145751953125f, kLn2Low = 1.42860682e-6f;
  Integers bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const Integers sign = bits & INT32_MIN;
  Vector y;
  bits &= INT32_MAX;
  std::memcpy(&y, &bits, sizeof(y));
  y = y + y;
  y = y > kEnd ? Vector{} + kEnd : y;
  const Vector shifted = y * kLog2 + kRound;
  const Vector n = shifted - kRound;
  const Vector r = (y - n * kLn2High) - n * kLn2Low;
  Vector p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * (r * r) + r;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - kRoundBits + kBias) << kFractionBits;
  Vector scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  const Vector less = p * scale + (scale - 1.0f);
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

  // The first unit of vector v, and how many units of it there are.
  int64_t at(int v) const { return kGated ? unit : unit + v * FXJIT_LANES; }
  int64_t left(const RecurrentStep& s, int v) const {
    const int64_t count = s.units - at(v);
    return count < 0 ? 0 : count;
  }
  // What the input gives to vector v of a row.
  Vector input(const RecurrentStep& s, int64_t row, int v) const {
    const int64_t gate = kGated ? s.order.place[static_cast<size_t>(v)] : 0;
    return load_some(s.gates[row] + gate * s.units + at(v), left(s, v));
  }
};

template <StepWork kWork>
FXJIT_INLINE Vector first_sum(const RecurrentStep& s, Units<kWork> units,
                              int64_t row, int v) {
  if constexpr (kWork == StepWork::project) return Vector{};
  const int64_t line = units.unit * (units.kGated ? units.kVectors : 1);
  const float* bias = s.bias + line + v * FXJIT_LANES;
  if constexpr (kWork == StepWork::gru)
    return v == 2 ? load(bias) : load(bias) + units.input(s, row, v);
  const Vector input = units.input(s, row, v);
  return s.bias ? input + load(bias) : input;
}

FXJIT_INLINE void put(const RecurrentStep& s, int64_t row, int64_t unit,
                      int64_t left, Vector value) {
  if (left > 0) store(value, s.next + row * s.next_row + unit);
  if (s.output && left > 0) store_some(value, s.output[row] + unit, left);
}

template <StepWork kWork>
FXJIT_INLINE void finish(const RecurrentStep& s, Units<kWork> units,
                         int64_t row, const Vector* sums) {
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
    const Vector fresh =
        hyperbolic_tangent(units.input(s, row, 2) + reset * sums[2]);
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

// kRows rows of the sums of one panel. One row alone has kChains chains of sums
// side by side, which hide how long an addition takes.
template <StepWork kWork, int kRows, int kChains>
[[gnu::noinline]] void tile(const RecurrentStep& s, int64_t panel,
                            int64_t row) {
  constexpr int kVectors = vectors_of(kWork);
  const Units<kWork> units{panel * FXJIT_LANES *
                           (Units<kWork>::kGated ? 1 : kVectors)};
  Vector sums[kRows * kChains][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows * kChains; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[r][v] =
          r < kRows ? first_sum<kWork>(s, units, row + r, v) : Vector{};
  constexpr int64_t kLine = kVectors * FXJIT_LANES;
  const float* weights = s.packed + panel * s.depth * kLine;
  const float* state = s.state + row * s.state_row;
  const int64_t state_row = s.state_row;
  const auto add = [&](const float* w, const float* x, int chain) FXJIT_FORCED {
    Vector factors[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) factors[v] = load(w + v * FXJIT_LANES);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      // Less zero, which leaves every number as it is.
      const Vector factor = x[r * state_row] - Vector{};
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sums[chain * kRows + r][v] += factor * factors[v];
    }
  };
  int64_t k = 0;
  if (s.backward) {
    for (k = s.depth; k >= kChains; k -= kChains)
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c)
        add(weights + (k - 1 - c) * kLine, state + k - 1 - c, c);
    for (; k > 0; --k) add(weights + (k - 1) * kLine, state + k - 1, 0);
  } else {
    for (; k + kChains <= s.depth; k += kChains)
#pragma GCC unroll 4
      for (int c = 0; c < kChains; ++c)
        add(weights + (k + c) * kLine, state + k + c, c);
    for (; k < s.depth; ++k) add(weights + k * kLine, state + k, 0);
  }
#pragma GCC unroll 8
  for (int c = 1; c < kChains; ++c)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[0][v] += sums[c][v];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) finish<kWork>(s, units, row + r, sums[r]);
}

// Tiles of rows, nearly equally high.
template <StepWork kWork>
inline void panel_rows(const RecurrentStep& s, int64_t panel) {
  constexpr int kMost = FXJIT_TILE_SUMS / vectors_of(kWork);
  const int64_t tiles = (s.rows + kMost - 1) / kMost;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = s.rows * i / tiles;
    switch (s.rows * (i + 1) / tiles - row) {
      case 1:
        if (s.strict)
          tile<kWork, 1, 1>(s, panel, row);
        else
          tile<kWork, 1, 3>(s, panel, row);
        break;
#define FXJIT_HEIGHT(rows)                                            \
  case rows:                                                          \
    if constexpr (rows <= kMost) tile<kWork, rows, 1>(s, panel, row); \
    break
        FXJIT_HEIGHT(2);
        FXJIT_HEIGHT(3);
        FXJIT_HEIGHT(4);
        FXJIT_HEIGHT(5);
        FXJIT_HEIGHT(6);
        FXJIT_HEIGHT(7);
        FXJIT_HEIGHT(8);
#undef FXJIT_HEIGHT
    }
  }
}

template <StepWork kWork>
inline void all_panels(const RecurrentStep& s) {
  const int64_t width =
      FXJIT_LANES * (Units<kWork>::kGated ? 1 : vectors_of(kWork));
  const int64_t panels = (s.units + width - 1) / width;
  for (int64_t i = 0; i < panels; ++i)
    panel_rows<kWork>(s, s.backward ? panels - 1 - i : i);
}

inline void run(const RecurrentStep& s) {
  switch (s.work) {
    case StepWork::lstm:
      return all_panels<StepWork::lstm>(s);
    case StepWork::gru:
      return all_panels<StepWork::gru>(s);
    case StepWork::tanh:
      return all_panels<StepWork::tanh>(s);
    case StepWork::relu:
      return all_panels<StepWork::relu>(s);
    case StepWork::project:
      return all_panels<StepWork::project>(s);
  }
}
