// Chooses the loops for a block: what narrow_block.cpp has per CPU level.

#include "kernels/vector_widths.h"

inline bool has_windows(const NarrowBlock& block, int64_t size,
                        int64_t stride) {
  return block.kernel[0] == size && block.kernel[1] == size &&
         block.stride == stride && block.across == stride &&
         block.dilation == 1;
}

template <int kRows>
inline void rows_of(const NarrowBlock& block, int64_t row) {
  if (has_windows(block, 3, 1)) return wide::some_rows<1, kRows, 3>(block, row);
  if (has_windows(block, 3, 2)) return wide::some_rows<2, kRows, 3>(block, row);
  if (has_windows(block, 5, 1)) return wide::some_rows<1, kRows, 5>(block, row);
  if (has_windows(block, 5, 2)) return wide::some_rows<2, kRows, 5>(block, row);
  if (block.across == 1)
    wide::some_rows<1, kRows, 0>(block, row);
  else
    wide::some_rows<2, kRows, 0>(block, row);
}

template <int kAcross>
inline void short_rows(const NarrowBlock& block) {
  const bool narrow =
      block.count >=
      static_cast<int64_t>(sizeof(narrow::Vector) / sizeof(float));
  for (int64_t row = 0; row < block.rows; ++row)
    if (narrow)
      narrow::some_rows<kAcross, 1, 0>(block, row);
    else
      single::some_rows<kAcross, 1, 0>(block, row);
}

inline void run(const NarrowBlock& block) {
  constexpr int64_t kWide = FXJIT_REGISTER;
  if (block.count < kWide)
    return block.across == 1 ? short_rows<1>(block) : short_rows<2>(block);
  int64_t row = 0;
  // Few factors leave registers for the sums of more rows.
  if constexpr (kWide == 16) {
    if (has_windows(block, 3, 1))
      for (; row + 8 <= block.rows; row += 8)
        wide::some_rows<1, 8, 3>(block, row);
    if (has_windows(block, 3, 2))
      for (; row + 8 <= block.rows; row += 8)
        wide::some_rows<2, 8, 3>(block, row);
  }
  for (; row + 4 <= block.rows; row += 4) rows_of<4>(block, row);
  for (; row + 2 <= block.rows; row += 2) rows_of<2>(block, row);
  for (; row < block.rows; ++row) rows_of<1>(block, row);
}
