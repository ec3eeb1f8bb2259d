// The loops of pool_block.cpp, once per CPU level (each_level.h).

// The channels of one place, in registers.
struct Row {
  static constexpr int kLanes = FXJIT_LANES;
  static constexpr int kParts = PoolBlock::kChannels / kLanes;
  using Part [[gnu::vector_size(kLanes * sizeof(float))]] = float;
  Part part[kParts];
};

// NaN once seen stays. Two chains of instructions that do not wait for each
// other: the greatest number, and a NaN if there is one.
template <bool kAverage>
inline void combine(Row& total, Row& nan, const float* from) {
  for (int i = 0; i < Row::kParts; ++i) {
    Row::Part next;
    std::memcpy(&next, from + i * Row::kLanes, sizeof(next));
    if (kAverage) {
      total.part[i] += next;
    } else {
      total.part[i] = next > total.part[i] ? next : total.part[i];
      nan.part[i] = next != next ? next : nan.part[i];
    }
  }
}

// Counts and steps of the taps of one window, in floats.
struct Taps {
  int64_t count[3], step[3];
};

template <bool kAverage>
inline Row pool_window(const float* corner, const Taps& taps, float divisor) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  using Part = Row::Part;
  Row total, nan;
  for (Part& part : total.part) part = Part{} + (kAverage ? 0 : kLeast);
  for (Part& part : nan.part) part = Part{};
  for (int64_t x = 0; x < taps.count[0]; ++x, corner += taps.step[0]) {
    const float* row = corner;
    for (int64_t y = 0; y < taps.count[1]; ++y, row += taps.step[1]) {
      const float* from = row;
      for (int64_t z = 0; z < taps.count[2]; ++z, from += taps.step[2])
        combine<kAverage>(total, nan, from);
    }
  }
  for (int i = 0; i < Row::kParts; ++i)
    if (kAverage)
      total.part[i] /= divisor;
    else
      total.part[i] = nan.part[i] != nan.part[i] ? nan.part[i] : total.part[i];
  return total;
}

// `block` is a copy: stores to its output cannot change it.
template <bool kAverage>
void pool_windows(const PoolBlock block) {
  float* out = block.output;
  Taps taps{{}, {block.tap_step[0], block.tap_step[1], block.tap_step[2]}};
  for (int64_t d = 0; d < block.window_count[0]; ++d)
    for (int64_t h = 0; h < block.window_count[1]; ++h) {
      const PoolWindow &depth = block.windows[0][d],
                       &height = block.windows[1][h];
      const float* rows = block.input + depth.first * block.position_step[0] +
                          height.first * block.position_step[1];
      const float divisor = depth.divisor * height.divisor;
      taps.count[0] = depth.count;
      taps.count[1] = height.count;
      for (int64_t w = 0; w < block.window_count[2];
           ++w, out += PoolBlock::kChannels) {
        const PoolWindow& width = block.windows[2][w];
        taps.count[2] = width.count;
        const Row total =
            pool_window<kAverage>(rows + width.first * block.position_step[2],
                                  taps, divisor * width.divisor);
        std::memcpy(out, total.part, sizeof(total.part));
      }
    }
}

inline void run(const PoolBlock& block) {
  if (block.average)
    pool_windows<true>(block);
  else
    pool_windows<false>(block);
}
