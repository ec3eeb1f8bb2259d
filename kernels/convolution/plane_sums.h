// Sums of products of planes of places and weights: for loops with vectors of
// sixteen floats.

using Sums = void (*)(const PlanePart&, int64_t, const float*, const float*,
                      float*);

// Adds up kOutputs outputs of a group at kVectors vectors of places, the first
// of which is number `vector`. Planes begin at the group's first input, weights
// and results at the first output.
template <int kOutputs, int kVectors>
[[gnu::noinline]] void add_up(const PlanePart& part, int64_t vector,
                              const float* planes, const float* weight,
                              float* results) {
  const PlaneTile& tile = *part.tile;
  const PlaneLayout& layout = *tile.layout;
  const auto taps = static_cast<int64_t>(layout.tap_offsets.size());
  const int64_t* offsets = layout.tap_offsets.data();
  const uint16_t* of_block = tile.masks + vector * taps;
  const int64_t plane = layout.plane, inputs = part.inputs;
  planes += tile.origin() + vector * FXJIT_LANES;
  __m512 sums[kOutputs][kVectors];
#pragma GCC unroll 8
  for (int o = 0; o < kOutputs; ++o)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[o][v] = _mm512_setzero_ps();
  for (int64_t d = part.slices.first; d < part.slices.last; ++d) {
    const float* factors = weight + d * taps * inputs * kOutputs;
    const float* slice = planes + d * layout.slices_apart();
    for (int64_t t = 0; t < taps; ++t) {
      const float* from = slice + offsets[t];
      __mmask16 masks[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) masks[v] = of_block[v * taps + t];
      for (int64_t i = 0; i < inputs; ++i, from += plane, factors += kOutputs) {
        __m512 x[kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v)
          x[v] = reinterpret_cast<__m512>(load_once(from + v * FXJIT_LANES));
#pragma GCC unroll 8
        for (int o = 0; o < kOutputs; ++o) {
          __m512 factor = _mm512_set1_ps(factors[o]);
          asm("" : "+v"(factor));
#pragma GCC unroll 8
          for (int v = 0; v < kVectors; ++v)
            sums[o][v] =
                _mm512_mask3_fmadd_ps(x[v], factor, sums[o][v], masks[v]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < kOutputs; ++o)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      _mm512_storeu_ps(results + o * PlaneLayout::kResult + v * FXJIT_LANES,
                       sums[o][v]);
}

// What registers hold beside what is read and a weight.
constexpr int most_vectors(int outputs) {
  return std::min<int>(PlaneLayout::kMostVectors, 31 / (outputs + 1));
}

template <int kOutputs, int kVectors = most_vectors(kOutputs)>
inline Sums sums_of(int64_t vectors) {
  if constexpr (kVectors > 1)
    if (vectors < kVectors) return sums_of<kOutputs, kVectors - 1>(vectors);
  return add_up<kOutputs, kVectors>;
}

inline Sums sums_of(int64_t outputs, int64_t vectors) {
  switch (outputs) {
    case 4:
      return sums_of<4>(vectors);
    case 5:
      return sums_of<5>(vectors);
    case 6:
      return sums_of<6>(vectors);
    case 7:
      return sums_of<7>(vectors);
    case 8:
      return sums_of<8>(vectors);
    default:
      throw InternalError("no loops for groups of this size");
  }
}
