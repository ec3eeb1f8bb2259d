// The loops of plane_copy.cpp, once per CPU level (each_level.h).

constexpr int kLanes = 16;
using Row [[gnu::vector_size(kLanes * sizeof(float))]] = float;

// A matrix of at most 16 x 16 floats.
struct Block {
  int64_t rows, columns;
  bool whole() const { return rows == kLanes && columns == kLanes; }
};

// to[j][i] = from[i][j] for 16 x 16; rows are `step` floats apart.
FXJIT_INLINE void transpose(const float* from, int64_t from_step, float* to,
                            int64_t to_step) {
  Row a[kLanes], b[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(&a[i], from + i * from_step, sizeof(Row));
  // Within quarters: pairs of rows, then pairs of pairs.
#pragma GCC unroll 8
  for (int i = 0; i < kLanes; i += 2) {
    b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 16, 1, 17, 4, 20, 5, 21,
                                   8, 24, 9, 25, 12, 28, 13, 29);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 18, 3, 19, 6, 22, 7,
                                       23, 10, 26, 11, 27, 14, 30, 15, 31);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kLanes; i += 4) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const Row &x = b[i + j], &y = b[i + j + 2];
      a[i + 2 * j] = __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21,
                                             8, 9, 24, 25, 12, 13, 28, 29);
      a[i + 2 * j + 1] = __builtin_shufflevector(
          x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    }
  }
  // Quarter k of a[4 i + j] is column 4 k + j of rows 4 i to 4 i + 3: gather
  // even and odd quarters of pairs, then of pairs of pairs.
#pragma GCC unroll 2
  for (int i = 0; i < kLanes; i += 8) {
#pragma GCC unroll 4
    for (int j = i; j < i + 4; ++j) {
      b[j] = __builtin_shufflevector(a[j], a[j + 4], 0, 1, 2, 3, 8, 9, 10, 11,
                                     16, 17, 18, 19, 24, 25, 26, 27);
      b[j + 4] = __builtin_shufflevector(a[j], a[j + 4], 4, 5, 6, 7, 12, 13, 14,
                                         15, 20, 21, 22, 23, 28, 29, 30, 31);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kLanes / 2; ++i) {
    a[i] = __builtin_shufflevector(b[i], b[i + 8], 0, 1, 2, 3, 8, 9, 10, 11, 16,
                                   17, 18, 19, 24, 25, 26, 27);
    a[i + 8] = __builtin_shufflevector(b[i], b[i + 8], 4, 5, 6, 7, 12, 13, 14,
                                       15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(to + i * to_step, &a[i], sizeof(Row));
}

FXJIT_INLINE void copy_block(const float* from, int64_t from_step, Block block,
                             float* to, int64_t to_step) {
  for (int64_t i = 0; i < block.rows; ++i)
    std::memcpy(to + i * to_step, from + i * from_step,
                static_cast<size_t>(block.columns) * sizeof(float));
}

// The same for a block at the edge: what lies outside `source` reads as zero,
// and of the result only `target` is written.
FXJIT_INLINE void transpose_edge(const float* from, int64_t from_step,
                                 Block source, float* to, int64_t to_step,
                                 Block target) {
  float in[kLanes * kLanes] = {}, out[kLanes * kLanes];
  copy_block(from, from_step, source, in, kLanes);
  transpose(in, kLanes, out, kLanes);
  copy_block(out, kLanes, target, to, to_step);
}

FXJIT_INLINE void transpose(const float* from, int64_t from_step, Block source,
                            float* to, int64_t to_step, Block target) {
  if (source.whole() && target.whole())
    transpose(from, from_step, to, to_step);
  else
    transpose_edge(from, from_step, source, to, to_step, target);
}

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Where the tile of channels from `c` and places from `p` lies on either side.
struct Tile {
  int64_t planes, inner, inner_step;
  Block plane_block;  // Channels by places.
  Block inner_block;  // Places by channels.
};

FXJIT_INLINE Tile tile_at(const PlaneCopy& copy, int64_t n, int64_t c,
                          int64_t p, bool to_inner) {
  constexpr int64_t kBlock = PlaneCopy::kBlock;
  Tile tile;
  tile.planes = n * copy.image_stride + c * copy.channel_stride + p;
  const int64_t channels = least(kLanes, copy.channels - c);
  const int64_t places = least(kLanes, copy.places - p);
  tile.plane_block = {channels, places};
  tile.inner_block = {places, channels};
  if (copy.blocked) {
    const int64_t blocks = (copy.channels + kBlock - 1) / kBlock;
    tile.inner = ((n * blocks + c / kBlock) * copy.places + p) * kBlock;
    tile.inner_step = kBlock;
    if (to_inner) tile.inner_block.columns = kBlock;  // Filled up with zeros.
  } else {
    tile.inner = (n * copy.places + p) * copy.channels + c;
    tile.inner_step = copy.channels;
  }
  return tile;
}

// The last tile of a range overlaps the one before rather than be narrow.
FXJIT_INLINE int64_t tile_start(int64_t at, int64_t total) {
  return total >= kLanes ? least(at, total - kLanes) : at;
}

template <bool kToInner>
FXJIT_INLINE void copy_tile(const PlaneCopy& copy, int64_t n, int64_t c,
                            int64_t p, float* planes, float* inner) {
  if (!copy.blocked) c = tile_start(c, copy.channels);
  const Tile tile = tile_at(copy, n, c, tile_start(p, copy.places), kToInner);
  if (kToInner)
    transpose(planes + tile.planes, copy.channel_stride, tile.plane_block,
              inner + tile.inner, tile.inner_step, tile.inner_block);
  else
    transpose(inner + tile.inner, tile.inner_step, tile.inner_block,
              planes + tile.planes, copy.channel_stride, tile.plane_block);
}

// Images of few channels: no tile would be filled.
template <int kChannels>
FXJIT_INLINE void interleave(const PlaneCopy& copy,
                             const float* __restrict planes,
                             float* __restrict inner) {
  for (int64_t n = 0; n < copy.images; ++n, planes += copy.image_stride)
    for (int64_t p = 0; p < copy.places; ++p, inner += kChannels)
      for (int c = 0; c < kChannels; ++c)
        inner[c] = planes[c * copy.channel_stride + p];
}

FXJIT_INLINE bool interleave_few(const PlaneCopy& copy, const float* planes,
                                 float* inner) {
  if (copy.blocked) return false;
  switch (copy.channels) {
    case 1:
      interleave<1>(copy, planes, inner);
      return true;
    case 2:
      interleave<2>(copy, planes, inner);
      return true;
    case 3:
      interleave<3>(copy, planes, inner);
      return true;
    case 4:
      interleave<4>(copy, planes, inner);
      return true;
    default:
      return false;
  }
}

// Tile by tile along the places of a block, or along the channels of a place:
// as the other side lies in memory.
template <bool kToInner>
FXJIT_INLINE void copy_all(const PlaneCopy& copy, float* planes, float* inner) {
  if (kToInner && interleave_few(copy, planes, inner)) return;
  for (int64_t n = 0; n < copy.images; ++n) {
    if (copy.blocked) {
      for (int64_t c = 0; c < copy.channels; c += kLanes)
        for (int64_t p = 0; p < copy.places; p += kLanes)
          copy_tile<kToInner>(copy, n, c, p, planes, inner);
    } else {
      for (int64_t p = 0; p < copy.places; p += kLanes)
        for (int64_t c = 0; c < copy.channels; c += kLanes)
          copy_tile<kToInner>(copy, n, c, p, planes, inner);
    }
  }
}

inline void run(const PlaneCopy& copy, float* planes, float* inner,
                bool to_inner) {
  if (to_inner)
    copy_all<true>(copy, planes, inner);
  else
    copy_all<false>(copy, planes, inner);
}
