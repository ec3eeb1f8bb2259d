// Cuts the channels of a row into vectors: what depthwise.cpp has per CPU
// level.

#include "kernels/vector_widths.h"

// Places side by side whose sums and factors fit the level's registers.
constexpr int kPlaces = FXJIT_REGISTER == 16 ? 6 : 4;

// The last vectors may take channels of the ones before them again.
inline void run(const DepthwiseRow& row, int64_t first, int64_t last) {
  constexpr int64_t kWide = FXJIT_REGISTER;
  constexpr int64_t kNarrow = sizeof(narrow::Vector) / sizeof(float);
  int64_t c = first;
  for (; c + 2 * kWide <= last; c += 2 * kWide)
    wide::middle<2, kPlaces>(row, c);
  for (; c + kWide <= last; c += kWide) wide::middle<1, kPlaces>(row, c);
  const int64_t whole = c;
  c = first;
  for (; c + 8 * kWide <= whole; c += 8 * kWide) wide::ends<8>(row, c);
  for (; c + 2 * kWide <= whole; c += 2 * kWide) wide::ends<2>(row, c);
  for (; c + kWide <= whole; c += kWide) wide::ends<1>(row, c);
  for (; c < last; c += kNarrow) {
    if (last < kNarrow) break;
    c = c + kNarrow <= last ? c : last - kNarrow;
    narrow::whole_places<1, kPlaces, 0, 0>(row, c);
    narrow::ends<1>(row, c);
  }
  for (; c < last; ++c) {
    single::whole_places<1, 1, 0, 0>(row, c);
    single::ends<1>(row, c);
  }
}
