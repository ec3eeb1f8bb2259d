// Sums of products of planes of places and weights: after plane_masks.h.

using Sums = void (*)(const PlanePart&, int64_t, const float*, const float*,
                      float*);

constexpr int kMostOutputs =
    static_cast<int>(PlanePart::most_outputs(FXJIT_LANES));
constexpr int kRegisters = FXJIT_LANES == 16 ? 32 : 16;

// What registers hold beside what is read and a weight.
constexpr int most_vectors(int outputs) {
  return std::min<int>(PlaneLayout::kMostVectors,
                       (kRegisters - 1) / (outputs + 1));
}

// What kVectors vectors of places see of a plane, whose masks for a tap lie
// `step` bytes apart. Masks stay where they are if registers cannot hold them
// beside kOutputs sums of each vector: compilers would copy them to the stack.
template <int kOutputs, int kVectors>
struct SeenPlaces {
  static constexpr bool kHeld =
      FXJIT_LANES == 16 || (kOutputs + 2) * kVectors + 1 <= kRegisters;

  FXJIT_INLINE SeenPlaces(const std::byte* first, int64_t step)
      : first(first), step(step) {
#pragma GCC unroll 8
    for (int v = 0; kHeld && v < kVectors; ++v)
      held[v] = load_mask(first + v * step);
  }

  FXJIT_INLINE LaneMask mask(int v) const {
    return kHeld ? held[v] : load_mask(first + v * step);
  }

  // What lanes see that are not in the mask counts as zero where there are no
  // multiply-adds of some lanes.
  FXJIT_INLINE Vector read(const float* from, int v) const {
#if FXJIT_LANES == 16
    return load_once(from + v * FXJIT_LANES);
#else
    auto x = reinterpret_cast<Integers>(load(from + v * FXJIT_LANES));
    if (kHeld)
      x &= held[v];
    else
      asm("vandps %1, %0, %0"
          : "+x"(x)
          : "m"(*reinterpret_cast<const LaneMask*>(first + v * step)));
    asm("" : "+x"(x));
    return reinterpret_cast<Vector>(x);
#endif
  }

  const std::byte* first;
  int64_t step;
  LaneMask held[kVectors];
};

// One number for all lanes, in a register of its own: compilers would load it
// with each use.
FXJIT_INLINE Vector spread(const float* from) {
#if FXJIT_LANES == 16
  auto x = reinterpret_cast<Vector>(_mm512_set1_ps(*from));
#else
  auto x = reinterpret_cast<Vector>(_mm256_broadcast_ss(from));
#endif
  asm("" : "+v"(x));
  return x;
}

// Adds x * factor in the lanes of the mask of vector v. Zeros times a finite
// factor add nothing.
template <bool kFinite, typename Seen>
FXJIT_INLINE void add_product(Vector x, Vector factor, const Seen& seen, int v,
                              Vector& sum) {
#if FXJIT_LANES == 16
  sum = reinterpret_cast<Vector>(_mm512_mask3_fmadd_ps(
      reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(factor),
      reinterpret_cast<__m512>(sum), seen.mask(v)));
#else
  const Vector added = sum + x * factor;
  sum = kFinite ? added : seen.mask(v) ? added : sum;
#endif
}

// Adds up kOutputs outputs of a group at kVectors vectors of places, the first
// of which is number `vector`. Planes begin at the group's first input, weights
// and results at the first output.
template <int kOutputs, int kVectors, bool kFinite>
[[gnu::noinline]] void add_up(const PlanePart& part, int64_t vector,
                              const float* planes, const float* weight,
                              float* results) {
  const PlaneTile& tile = *part.tile;
  const PlaneLayout& layout = *tile.layout;
  const auto taps = static_cast<int64_t>(layout.tap_offsets.size());
  const int64_t* offsets = layout.tap_offsets.data();
  constexpr auto kMask = static_cast<int64_t>(sizeof(LaneMask));
  const std::byte* of_block = tile.masks + vector * taps * kMask;
  const int64_t plane = layout.plane, inputs = part.inputs;
  planes += tile.origin() + vector * FXJIT_LANES;
  Vector sums[kOutputs][kVectors] = {};
  for (int64_t d = part.slices.first; d < part.slices.last; ++d) {
    const float* factors = weight + d * taps * inputs * kOutputs;
    const float* slice = planes + d * layout.slices_apart;
    for (int64_t t = 0; t < taps; ++t) {
      const float* from = slice + offsets[t];
      const SeenPlaces<kOutputs, kVectors> seen(of_block + t * kMask,
                                                taps * kMask);
      for (int64_t i = 0; i < inputs; ++i, from += plane, factors += kOutputs) {
        Vector x[kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) x[v] = seen.read(from, v);
#pragma GCC unroll 8
        for (int o = 0; o < kOutputs; ++o) {
          const Vector factor = spread(factors + o);
#pragma GCC unroll 8
          for (int v = 0; v < kVectors; ++v)
            add_product<kFinite>(x[v], factor, seen, v, sums[o][v]);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int o = 0; o < kOutputs; ++o)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      store(sums[o][v], results + o * PlaneLayout::kResult + v * FXJIT_LANES);
}

template <int kOutputs, int kVectors = most_vectors(kOutputs)>
inline Sums sums_of(int64_t vectors, bool finite) {
  if constexpr (kVectors > 1)
    if (vectors < kVectors)
      return sums_of<kOutputs, kVectors - 1>(vectors, finite);
  // Masks of multiply-adds need not know.
  return finite || FXJIT_LANES == 16 ? add_up<kOutputs, kVectors, true>
                                     : add_up<kOutputs, kVectors, false>;
}

template <int kOutputs = kMostOutputs>
inline Sums sums_of(int64_t outputs, int64_t vectors, bool finite) {
  if constexpr (kOutputs > kMostOutputs / 2)
    if (outputs < kOutputs)
      return sums_of<kOutputs - 1>(outputs, vectors, finite);
  return sums_of<kOutputs>(vectors, finite);
}
