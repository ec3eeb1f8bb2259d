// The loops of narrow_block.cpp, once per CPU level and vector width
// (vector_widths.h).

#include "kernels/convolution/post_work_loops.h"

// Reads what the lanes of a vector need of one row for one tap. kLoads: 1 where
// that lies side by side, else of how many vectors it is picked.
template <int kLoads>
struct Reader {
  explicit Reader(const NarrowBlock& block, int64_t phase) {
    if constexpr (kLoads > 1) {
      const NarrowSpread& spread =
          block.spreads->at(phase, int64_t{FXJIT_LANES});
      for (int i = 0; i < kLoads - 1; ++i) {
        apart[i] = spread.apart[i];
        std::memcpy(&index[i], spread.index[i], sizeof(Integers));
      }
    }
  }

  FXJIT_INLINE Vector operator()(const float* from) const {
    Vector x = load(from);
    if constexpr (kLoads > 1)
      x = __builtin_shuffle(x, load(from + apart[0]), index[0]);
    if constexpr (kLoads > 2)
      x = __builtin_shuffle(x, load(from + apart[1]), index[1]);
    return x;
  }

  int64_t apart[2];
  Integers index[2];
};

// Does the work on kRows sums, one below the other, and stores them.
template <int kRows>
FXJIT_INLINE void finish(const NarrowBlock& block, int64_t row, int64_t at,
                         int64_t phase, Vector (&sums)[kRows]) {
  const int64_t step = block.output_step, corner = row * step + at;
  for (int64_t i = 0; i < block.work.count; ++i)
    apply(block.work.ops[i], sums, [&](int tensor, int r) FXJIT_FORCED {
      const float* extra = block.work.extras[tensor];
      return block.work.steps[tensor] == 0 ? load(extra + phase)
                                           : load(extra + corner + r * step);
    });
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
    store(sums[r], block.output + corner + r * step);
}

// Where float `at` of a row of the output has its first tap in the input.
FXJIT_INLINE int64_t source_of(const NarrowBlock& block, int64_t at) {
  return at + at / block.channels * (block.across - 1) * block.channels;
}

// Vectors at `first`, first + step, ... before `last`. Where lanes are picked,
// all of them start with the same channel.
struct Run {
  int64_t first, last, step;
};

// The channel that a vector starts with, from one vector of a run to the next.
struct Phase {
  Phase(const NarrowBlock& block, Run run)
      : at(run.first % block.channels),
        step(run.step % block.channels),
        channels(block.channels) {}
  void advance() {
    at += step;
    if (at >= channels) at -= channels;
  }
  int64_t at, step, channels;
};

// Sums of kRows rows. What is read of a row of the input serves all sums whose
// windows it is in.
template <int kLoads, int kRows, int kHeight, int kWidth, int kStride>
inline void vectors(const NarrowBlock& block, int64_t row, Run run) {
  Phase phase(block, run);
  const int64_t row_step = block.row_step;
  const int64_t read_step = run.step * block.across;
  const Reader<kLoads> read(block, phase.at);
  const float* corner =
      block.input + row * kStride * row_step + source_of(block, run.first);
  Vector factor[kHeight * kWidth], bias;
  const auto load_phase = [&]() FXJIT_FORCED {
#pragma GCC unroll 32
    for (int t = 0; t < kHeight * kWidth; ++t)
      factor[t] = load(block.weight + t * block.pattern + phase.at);
    bias = block.bias ? load(block.bias + phase.at) : Vector{};
  };
  load_phase();
  for (int64_t at = run.first; at < run.last; at += run.step) {
    if constexpr (kLoads == 1) load_phase();
    Vector sums[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r] = bias;
    const float* from = corner;
#pragma GCC unroll 16
    for (int q = 0; q < (kRows - 1) * kStride + kHeight; ++q) {
#pragma GCC unroll 8
      for (int w = 0; w < kWidth; ++w) {
        const Vector x = read(from + w * block.column);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r)
          if (q >= r * kStride && q - r * kStride < kHeight)
            sums[r] += factor[(q - r * kStride) * kWidth + w] * x;
      }
      from += row_step;
    }
    finish(block, row, at, phase.at, sums);
    corner += read_step;
    phase.advance();
  }
}

// The same for windows of any size, stride and dilation.
template <int kLoads, int kRows>
inline void any_vectors(const NarrowBlock& block, int64_t row, Run run) {
  Phase phase(block, run);
  const int64_t place_step = block.stride * block.row_step;
  const Reader<kLoads> read(block, phase.at);
  for (int64_t at = run.first; at < run.last; at += run.step) {
    Vector sums[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      sums[r] = block.bias ? load(block.bias + phase.at) : Vector{};
    const float* from = block.input + row * place_step + source_of(block, at);
    const float* weight = block.weight + phase.at;
    for (int64_t h = 0; h < block.kernel[0]; ++h) {
      for (int64_t w = 0; w < block.kernel[1]; ++w) {
        const Vector factor = load(weight);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r)
          sums[r] += factor * read(from + w * block.column + r * place_step);
        weight += block.pattern;
      }
      from += block.dilation * block.row_step;
    }
    finish(block, row, at, phase.at, sums);
    phase.advance();
  }
}

template <int kLoads, int kRows, int kSize, int kStride>
FXJIT_INLINE void run_vectors(const NarrowBlock& block, int64_t row, Run run) {
  if constexpr (kSize > 0)
    vectors<kLoads, kRows, kSize, kSize, kStride>(block, row, run);
  else
    any_vectors<kLoads, kRows>(block, row, run);
}

// Whole rows of at least one vector; the last one may compute some sums again.
// kAcross: the width's stride. kSize: windows of as many rows and columns whose
// height has the stride kStride and no dilation; 0 for any.
template <int kAcross, int kRows, int kSize, int kStride>
[[gnu::noinline]] void some_rows(const NarrowBlock& block, int64_t row) {
  constexpr int64_t kLanes = FXJIT_LANES;
  const auto run = [&](Run at) FXJIT_FORCED {
    if constexpr (kAcross == 1 || kLanes == 1)
      run_vectors<1, kRows, kSize, kStride>(block, row, at);
    else if (block.spreads->at(at.first % block.channels, kLanes).loads == 2)
      run_vectors<2, kRows, kSize, kStride>(block, row, at);
    else
      run_vectors<3, kRows, kSize, kStride>(block, row, at);
  };
  const int64_t whole = block.count / kLanes * kLanes;
  if constexpr (kAcross == 1) {
    run({0, whole, kLanes});
  } else {
    const int64_t period =
        block.channels / std::gcd(block.channels, kLanes) * kLanes;
    for (int64_t at = 0; at < std::min(period, whole); at += kLanes)
      run({at, whole, period});
  }
  if (whole < block.count) run({block.count - kLanes, block.count, kLanes});
}
