// Cuts the features of a row into vectors: what image_conv.cpp has per CPU
// level.

#include "kernels/vector_widths.h"

// The last vectors may take features of the ones before them again. As many
// sums as fit the level's registers.
inline void run(const ImageRow& row) {
  constexpr int64_t kWide = FXJIT_REGISTER;
  constexpr int64_t kNarrow = sizeof(narrow::Vector) / sizeof(float);
  constexpr bool kManyRegisters = kWide == 16;
  constexpr int kPlaces = kManyRegisters ? 8 : 5;
  const int64_t last = row.features;
  int64_t f = 0;
  if constexpr (kManyRegisters)
    for (; f + 4 * kWide <= last; f += 4 * kWide)
      wide::some_features<4, 6>(row, {f});
  for (; f + 2 * kWide <= last; f += 2 * kWide)
    wide::some_features<2, kPlaces>(row, {f});
  if (last - f > kWide) {
    const int64_t first = std::max<int64_t>(0, last - 2 * kWide);
    wide::some_features<2, kPlaces>(row, {first, last - kWide - first});
    return;
  }
  if (f < last && last >= kWide)
    return wide::some_features<1, kPlaces>(row, {last - kWide});
  for (; f < last; f += kNarrow)
    narrow::some_features<1, kPlaces>(row, {std::min(f, last - kNarrow)});
}
