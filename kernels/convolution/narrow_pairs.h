// Windows whose factors two vectors of a row share, stride 1: included by
// narrow_loops.h.

// Vectors that are many registers hold the factors of a window themselves.
constexpr bool kHasPairs = FXJIT_LANES == 8;

// Two vectors that start with the same channel, `apart` floats from each other,
// kRows rows of each, inside of the image: each factor is read once for both.
template <int kRows, int kSize>
FXJIT_INLINE void add_pair(const NarrowBlock& block, int64_t row,
                           const Start& start, int64_t apart,
                           Vector (&sums)[2 * kRows]) {
  const float* weight = block.weight + start.channel;
  const float* from =
      block.input + (block.top + row) * block.row_step + start.source;
#pragma GCC unroll 32
  for (int q = 0; q < kRows - 1 + kSize; ++q) {
    const float* tap = from;
#pragma GCC unroll 8
    for (int w = 0; w < kSize; ++w) {
      const Vector x = load_once(tap), other = load_once(tap + apart);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
        if (q >= r && q - r < kSize) {
          const Vector factor =
              load_once(weight + ((q - r) * kSize + w) * kNarrowPattern);
          sums[r] += factor * x;
          sums[kRows + r] += factor * other;
        }
      tap += block.column;
    }
    from += block.row_step;
    // Else compilers find all addresses first, and have no registers for them.
    asm("" : "+r"(from));
  }
}

// The vectors of floats [at, at + period) of a row, and those that follow them
// and start with the same channels.
template <int kRows, int kSize>
FXJIT_INLINE void add_period(const NarrowBlock& block, int64_t row, int64_t at,
                             int64_t period) {
  Start start(block, at);
  for (int64_t end = at + period; at < end; at += FXJIT_LANES) {
    const Vector bias =
        block.bias ? load(block.bias + start.channel) : Vector{};
    Vector sums[2 * kRows];
#pragma GCC unroll 8
    for (Vector& sum : sums) sum = bias;
    add_pair<kRows, kSize>(block, row, start, period, sums);
    finish<kRows, 2>(block, row, at, start.channel, sums, period);
    start.advance();
  }
}

// After how many floats vectors of a row start with the same channels, if pairs
// of them are for the window; else 0.
template <int kSize>
FXJIT_INLINE int64_t pair_period(const NarrowBlock& block) {
  const int64_t period = std::lcm(block.channels, int64_t{FXJIT_LANES});
  // Registers hold a small window's factors if all vectors have the same.
  return kSize == 3 && period == FXJIT_LANES ? 0 : period;
}

// All pairs of vectors of a row, inside of the image, from float `at` on.
// Returns the float behind them.
template <int kRows, int kSize>
FXJIT_INLINE int64_t add_pairs(const NarrowBlock& block, int64_t row,
                               int64_t at, int64_t period) {
  for (; at + 2 * period <= block.whole[1]; at += 2 * period)
    add_period<kRows, kSize>(block, row, at, period);
  return at;
}
