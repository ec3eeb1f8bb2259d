// The loops of step.cpp, once per CPU level (each_level.h).

#include "kernels/vector_loops.h"
// Of its vectors.
#include "kernels/recurrence/cell_loops.h"

// Vectors of sums in a tile.
constexpr int kTileSums = FXJIT_LANES == 16 ? 24 : FXJIT_LANES == 8 ? 12 : 8;

// The sums of one panel of columns for kRows rows. Each sum is split into
// kChains chains side by side, which hides the latency of additions if there is
// one row.
template <StepWork kWork, int kRows, int kChains>
struct Sums {
  static constexpr int kVectors = vectors_of(kWork);
  static constexpr int64_t kLine = kVectors * FXJIT_LANES;

  Vector of[kRows * kChains][kVectors];

  // Adds the products of one element of the depth: a line of weights times one
  // number of each row.
  FXJIT_INLINE void add(const float* w, const float* x, int64_t x_row,
                        int chain) {
    Vector factors[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) factors[v] = load(w + v * FXJIT_LANES);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      // Less zero, which leaves every number as it is.
      const Vector factor = x[r * x_row] - Vector{};
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        of[chain * kRows + r][v] += factor * factors[v];
    }
  }

  FXJIT_INLINE void add_all(const float* weights, const float* x, int64_t x_row,
                            int64_t depth, bool backward) {
    int64_t k = 0;
    if (backward) {
      for (k = depth; k >= kChains; k -= kChains)
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c)
          add(weights + (k - 1 - c) * kLine, x + k - 1 - c, x_row, c);
      for (; k > 0; --k) add(weights + (k - 1) * kLine, x + k - 1, x_row, 0);
    } else {
      for (; k + kChains <= depth; k += kChains)
#pragma GCC unroll 4
        for (int c = 0; c < kChains; ++c)
          add(weights + (k + c) * kLine, x + k + c, x_row, c);
      for (; k < depth; ++k) add(weights + k * kLine, x + k, x_row, 0);
    }
  }

  // Called when the product with the inputs is done, before that with the
  // states. For the new gate of a GRU it sets the former aside, because the
  // reset gate multiplies the latter alone.
  FXJIT_INLINE void between(const RecurrentStep& s, Units<kWork> units, int row,
                            Vector& fresh_input) {
    if constexpr (kWork == StepWork::gru) {
      fresh_input = of[row][2];
      of[row][2] = Vector{};
#pragma GCC unroll 4
      for (int c = 1; c < kChains; ++c) {
        fresh_input += of[c * kRows + row][2];
        of[c * kRows + row][2] = Vector{};
      }
    }
    if (kWork == StepWork::project || !s.bias) return;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      of[row][v] += load(s.bias + units.line() + v * FXJIT_LANES);
  }

  // Adds up the chains of a row.
  FXJIT_INLINE void fold(int row) {
#pragma GCC unroll 4
    for (int c = 1; c < kChains; ++c)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) of[row][v] += of[c * kRows + row][v];
  }
};

// Starts the sums of a row: with the gates if these are given, else with the
// biases of the product with the inputs.
template <StepWork kWork>
FXJIT_INLINE Vector first_sum(const RecurrentStep& s, Units<kWork> units,
                              int64_t row, int v) {
  if constexpr (kWork == StepWork::project) return Vector{};
  if (s.gates) return units.given(s, row, v);
  return s.input_bias ? load(s.input_bias + units.line() + v * FXJIT_LANES)
                      : Vector{};
}

template <StepWork kWork, int kRows, int kChains>
[[gnu::noinline]] void tile(const RecurrentStep& s, int64_t panel,
                            int64_t row) {
  constexpr int kVectors = vectors_of(kWork);
  const Units<kWork> units(panel);
  Sums<kWork, kRows, kChains> sums;
#pragma GCC unroll 16
  for (int r = 0; r < kRows * kChains; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums.of[r][v] =
          r < kRows ? first_sum<kWork>(s, units, row + r, v) : Vector{};
  if (s.inputs)
    sums.add_all(s.input_packed + panel * s.input_depth * sums.kLine,
                 s.inputs + row * s.input_row, s.input_row, s.input_depth,
                 s.backward);
  Vector fresh_input[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums.between(s, units, r, fresh_input[r]);
  sums.add_all(s.packed + panel * s.depth * sums.kLine,
               s.state + row * s.state_row, s.state_row, s.depth, s.backward);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    sums.fold(r);
    finish<kWork>(s, units, row + r, sums.of[r], fresh_input[r]);
  }
}

#if FXJIT_LANES == 16
#include "kernels/recurrence/ahead_loops.h"
#else
template <StepWork kWork>
inline bool panel_ahead(const RecurrentStep&, int64_t) {
  return false;
}
#endif

#include "kernels/recurrence/integer_loops.h"

template <StepWork kWork, int kRows>
inline void tile_of_rows(const RecurrentStep& s, int64_t panel, int64_t row) {
  if constexpr (kWork != StepWork::project)
    if (s.integers.scales) return integer_tile<kWork, kRows>(s, panel, row);
  if (kRows == 1 && !s.strict)
    tile<kWork, 1, 3>(s, panel, row);
  else
    tile<kWork, kRows, 1>(s, panel, row);
}

// Computes the rows in tiles of nearly equal height.
template <StepWork kWork>
inline void panel_rows(const RecurrentStep& s, int64_t panel) {
  if (panel_ahead<kWork>(s, panel)) return;
  constexpr int kMost = kTileSums / vectors_of(kWork);
  const int64_t tiles = (s.rows + kMost - 1) / kMost;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = s.rows * i / tiles;
    switch (s.rows * (i + 1) / tiles - row) {
#define FXJIT_HEIGHT(rows)                                                 \
  case rows:                                                               \
    if constexpr (rows <= kMost) tile_of_rows<kWork, rows>(s, panel, row); \
    break
      FXJIT_HEIGHT(1);
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
  if constexpr (kWork != StepWork::project)
    if (s.integers.scales) finish_kept<kWork>(s, panels);
}

inline void run(const RecurrentStep& s) {
  if (s.integers.scales) quantise_rows(s);
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
