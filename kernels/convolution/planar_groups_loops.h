// The loops of planar_groups.cpp, once per CPU level (each_level.h).

#if FXJIT_LANES < 8
inline void run(const PlaneTile&) {
  throw InternalError("planes of channels need vectors of eight floats");
}
inline void run(const PlanePart&) {
  throw InternalError("planes of channels need vectors of eight floats");
}
#else
#include "kernels/convolution/plane_turns.h"
// After the vectors of plane_turns.h.
#include "kernels/convolution/plane_masks.h"
#include "kernels/convolution/plane_sums.h"

// What is done to kFours times four channels of a vector's places, and where
// they go.
template <int kFours>
FXJIT_INLINE void finish_channels(const PlanePart& part,
                                  const PlaneTile::Vector& lanes,
                                  const float* results, int64_t channel) {
  const auto [place, used] = lanes;
  const int count = std::popcount(used);
  Vector x[4 * kFours];
#pragma GCC unroll 8
  for (int i = 0; i < 4 * kFours; ++i) {
    x[i] =
        gather_used(load(results + (channel + i) * PlaneLayout::kResult), used);
    if (part.bias) x[i] += part.bias[channel + i];
  }
  float* to = part.output + place * part.output_step + channel;
#pragma GCC unroll 2
  for (int i = 0; i < kFours; ++i) {
    Vector(&four)[4] = reinterpret_cast<Vector(&)[4]>(x[4 * i]);
    turn(four);
    write_four(four, to + 4 * i, part.output_step, count);
  }
}

inline void finish(const PlanePart& part, int64_t first, int64_t vectors) {
  const int64_t channels = part.groups * part.inputs;
  for (int64_t v = 0; v < vectors; ++v) {
    const PlaneTile::Vector& lanes = part.tile->lanes[first + v];
    const float* results = part.results + v * FXJIT_LANES;
    int64_t channel = 0;
    // Short vectors of more channels are as much work at once.
    if (FXJIT_LANES == 8)
      for (; channel + 8 <= channels; channel += 8)
        finish_channels<2>(part, lanes, results, channel);
    each_four(channels - channel, [&](int64_t c) FXJIT_FORCED {
      finish_channels<1>(part, lanes, results, channel + c);
    });
  }
}

// The numbers of a slot that places [at, at + count) of a dim read.
inline TapRange slot_range(const PlaneTaps& taps, int64_t slot, int64_t at,
                           int64_t count) {
  const int64_t last =
      support::ceil_div(taps.size - taps.first[slot], taps.stride);
  return {std::max<int64_t>(0, at + taps.least),
          std::min(last, at + count + taps.most)};
}

// What taps of one slot of the height and one of the width read.
inline void turn_slot(const PlanePart& part, const float* input, int64_t h,
                      int64_t w, float* planes) {
  const PlaneTile& tile = *part.tile;
  const PlaneTaps &height = tile.layout->height, &width = tile.layout->width;
  const TapRange rows = slot_range(height, h, tile.row, tile.rows);
  const TapRange columns = slot_range(width, w, tile.column, tile.columns);
  if (rows.first >= rows.last || columns.first >= columns.last) return;
  PlaneRows from{
      .first = input +
               (rows.first * height.stride + height.first[h]) * part.steps[1] +
               (columns.first * width.stride + width.first[w]) * part.steps[2],
      .rows = rows.last - rows.first,
      .columns = columns.last - columns.first,
      .row_step = height.stride * part.steps[1],
      .column_step = width.stride * part.steps[2],
      .pitch = tile.layout->pitch};
  if (from.columns == from.pitch &&
      from.row_step == from.pitch * from.column_step)
    from.columns *= std::exchange(from.rows, 1);
  turn_rows(from, part.groups * part.inputs,
            planes + tile.origin() + (rows.first - tile.row) * from.pitch +
                columns.first - tile.column,
            tile.layout->plane);
}

inline void turn_input(const PlanePart& part) {
  const PlaneLayout& layout = *part.tile->layout;
  for (int64_t d = part.slices.first; d < part.slices.last; ++d)
    for (int64_t h = 0; h < layout.height.slots(); ++h)
      for (int64_t w = 0; w < layout.width.slots(); ++w)
        turn_slot(part, part.input + d * part.steps[0], h, w,
                  part.planes + d * layout.slices_apart +
                      h * layout.rows_apart +
                      w * layout.channels * layout.plane);
}

inline void run(const PlanePart& part) {
  const PlaneTile& tile = *part.tile;
  const PlaneLayout& layout = *tile.layout;
  turn_input(part);
  const int64_t taps =
      layout.depth_taps * static_cast<int64_t>(layout.tap_offsets.size());
  int64_t outputs = 0;
  PlanePart::each_block(part.inputs, kMostOutputs,
                        [&](int64_t begin, int64_t end) {
                          outputs = std::max(outputs, end - begin);
                        });
  const int64_t most = most_vectors(static_cast<int>(outputs));
  const int64_t all = tile.vectors();
  int64_t count = support::ceil_div(all, most);
  for (int64_t v = 0; v < all; --count) {
    const int64_t vectors = support::ceil_div(all - v, count);
    for (int64_t g = 0; g < part.groups; ++g)
      PlanePart::each_block(
          part.inputs, kMostOutputs, [&](int64_t begin, int64_t end) {
            sums_of(end - begin, vectors, part.finite)(
                part, v, part.planes + g * part.inputs * layout.plane,
                part.weight + (g * part.inputs + begin) * part.inputs * taps,
                part.results +
                    (g * part.inputs + begin) * PlaneLayout::kResult);
          });
    finish(part, v, vectors);
    v += vectors;
  }
}
#endif
