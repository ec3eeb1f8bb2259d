// The loops of narrow_block.cpp, once per CPU level and vector width
// (vector_widths.h).

#include "kernels/convolution/post_work_loops.h"
#include "kernels/convolution/some_lanes.h"
// Behind what it uses.
#include "kernels/convolution/narrow_taps.h"

// The vector of a row of the output that begins with float `at`: the channel of
// its first lane, and where that lane's first tap lies in a row of the input.
struct Start {
  Start(const NarrowBlock& block, int64_t at)
      : channels(block.channels),
        skipped((block.across - 1) * channels),
        step(FXJIT_LANES % channels),
        source_step(FXJIT_LANES + FXJIT_LANES / channels * skipped),
        channel(at % channels),
        source(block.first + at + at / channels * skipped) {}

  FXJIT_INLINE void advance() {
    channel += step;
    source += source_step;
    if (channel < channels) return;
    channel -= channels;
    source += skipped;
  }

  int64_t channels, skipped, step, source_step;
  int64_t channel, source;
};

// Does the work on sums and stores them: kRows, one below the other, then those
// `apart` floats further in the same rows.
template <int kRows, int kVectors = 1>
FXJIT_INLINE void finish(const NarrowBlock& block, int64_t row, int64_t at,
                         int64_t channel, Vector (&sums)[kRows * kVectors],
                         int64_t apart = 0) {
  const int64_t step = block.output_step, corner = row * step + at;
  const auto place = [&](int i) FXJIT_FORCED {
    return corner + i % kRows * step + i / kRows * apart;
  };
  for (int64_t i = 0; i < block.work.count; ++i)
    apply(block.work.ops[i], sums, [&](int tensor, int s) FXJIT_FORCED {
      const float* extra = block.work.extras[tensor];
      return block.work.steps[tensor] == 0 ? load(extra + channel)
                                           : load(extra + place(s));
    });
#pragma GCC unroll 8
  for (int s = 0; s < kRows * kVectors; ++s)
    store(sums[s], block.output + place(s));
}

// Rows of the input from `first` on; kEnds: those before the image and from its
// last row on are padding.
template <bool kEnds>
struct Lines {
  int64_t first, count;
  FXJIT_INLINE bool has(int64_t i) const {
    return !kEnds || (first + i >= 0 && first + i < count);
  }
};

// Adds windows of kSize x kSize taps. What is read of a row of the input serves
// all sums whose windows it is in.
template <int kRows, int kSize, int kStride, bool kEnds, typename Taps,
          typename Load>
FXJIT_INLINE void add_windows(const Taps& taps, const Load& load,
                              Lines<kEnds> lines, const float* from,
                              int64_t row_step,
                              const Vector (&factor)[kSize * kSize],
                              Vector (&sums)[kRows]) {
#pragma GCC unroll 32
  for (int q = 0; q < (kRows - 1) * kStride + kSize; ++q) {
    if (lines.has(q)) {
      Vector x[kSize];
      taps.read(from, load, x);
#pragma GCC unroll 8
      for (int w = 0; w < kSize; ++w)
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r)
          if (q >= r * kStride && q - r * kStride < kSize)
            sums[r] += factor[(q - r * kStride) * kSize + w] * x[w];
    }
    from += row_step;
    // Else compilers find all rows' addresses before they choose how taps are
    // read, and have too few registers for them.
    if (kStride > 1) asm("" : "+r"(from));
  }
}

// Windows of any size, stride along the height and dilation.
template <int kAcross, bool kEnds, int kRows>
FXJIT_INLINE void add_any_windows(const NarrowBlock& block, int64_t row,
                                  const Start& start, Vector (&sums)[kRows]) {
  const int64_t top = block.top + row * block.stride;
  const float* weight = block.weight + start.channel;
  for (int64_t h = 0; h < block.kernel[0]; ++h)
    for (int64_t w = 0; w < block.kernel[1]; ++w, weight += kNarrowPattern) {
      const Vector factor = load(weight);
      const int64_t at = start.source + w * block.column;
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const int64_t line = top + r * block.stride + h * block.dilation;
        if (kEnds && (line < 0 || line >= block.lines)) continue;
        sums[r] +=
            factor * read_tap<kAcross, kEnds>(block, line, at, start.channel);
      }
    }
}

// Windows of kSize x kSize taps without dilation, with the same stride along
// both dims; kSize 0: of any.
template <int kAcross, int kRows, int kSize>
struct Windows {
  FXJIT_INLINE explicit Windows(const NarrowBlock& block) : block(block) {
    load_factors(0);
  }

  // kEnds: what is read may begin or end outside of the image.
  template <bool kEnds>
  FXJIT_INLINE void add(int64_t row, const Start& start,
                        Vector (&sums)[kRows]) {
    const NarrowLanes& lanes =
        block.lanes->at(start.channel, int64_t{FXJIT_LANES});
    const bool picked = !kEnds && lanes.picks != NarrowLanes::Picks::none;
    if (kAcross > 1 && lanes.places > kMostPlaces && !picked)
      return add_any_windows<kAcross, kEnds>(block, row, start, sums);
    if (start.channel != loaded) load_factors(start.channel);
    const int64_t row_step = block.row_step;
    const int64_t top = block.top + row * kAcross;
    const float* from = block.input + top * row_step + start.source;
    const auto add_with = [&](const auto& taps, const auto& load) FXJIT_FORCED {
      add_windows<kRows, kSize, kAcross, kEnds>(taps, load,
                                                Lines<kEnds>{top, block.lines},
                                                from, row_step, factor, sums);
    };
    if constexpr (kAcross == 1 && kEnds)
      add_with(SideBySide{block.column},
               Clipped<kSize>(start.source, block.line, block.column));
    else if constexpr (kAcross == 1)
      add_with(SideBySide{block.column}, Whole());
    else if constexpr (kEnds)
      add_with(Blended<kMostPlaces>(lanes, block.channels),
               Clipped<kSize + kMostPlaces - 1>(start.source, block.line,
                                                block.channels));
    else
      with_spread_taps(lanes, block.channels,
                       [&](const auto& taps)
                           FXJIT_FORCED { add_with(taps, Whole()); });
  }

  FXJIT_INLINE void load_factors(int64_t channel) {
#pragma GCC unroll 32
    for (int t = 0; t < kSize * kSize; ++t)
      factor[t] = load(block.weight + t * kNarrowPattern + channel);
    loaded = channel;
  }

  const NarrowBlock& block;
  Vector factor[kSize * kSize];
  int64_t loaded;
};

template <int kAcross, int kRows>
struct Windows<kAcross, kRows, 0> {
  FXJIT_INLINE explicit Windows(const NarrowBlock& block) : block(block) {}
  template <bool kEnds>
  FXJIT_INLINE void add(int64_t row, const Start& start,
                        Vector (&sums)[kRows]) const {
    add_any_windows<kAcross, kEnds>(block, row, start, sums);
  }
  const NarrowBlock& block;
};

#include "kernels/convolution/narrow_pairs.h"

// Whole rows of at least one vector; the last one may compute some sums again.
// kAcross: the width's stride. `ends`: windows reach over the image's first or
// last row.
template <int kAcross, int kRows, int kSize>
[[gnu::noinline]] void some_rows(const NarrowBlock& block, int64_t row,
                                 bool ends) {
  constexpr int64_t kLanes = FXJIT_LANES;
  constexpr bool kPairs = kHasPairs && kAcross == 1 && kSize > 0;
  int64_t period = 0;
  if constexpr (kPairs) period = ends ? 0 : pair_period<kSize>(block);
  Windows<kAcross, kRows, kSize> windows(block);
  Start start(block, 0);
  for (int64_t at = 0; at < block.count; at += kLanes) {
    if constexpr (kPairs)
      if (period > 0 && at >= block.whole[0]) {
        at = add_pairs<kRows, kSize>(block, row, at, period);
        if (at == block.count) return;
        start = Start(block, at);
        period = 0;
      }
    if (at + kLanes > block.count) {
      at = block.count - kLanes;
      start = Start(block, at);
    }
    const Vector bias =
        block.bias ? load(block.bias + start.channel) : Vector{};
    Vector sums[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[r] = bias;
    if (ends || at < block.whole[0] || at + kLanes > block.whole[1])
      windows.template add<true>(row, start, sums);
    else
      windows.template add<false>(row, start, sums);
    finish<kRows>(block, row, at, start.channel, sums);
    start.advance();
  }
}
