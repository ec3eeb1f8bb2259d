// Chooses the loops for a block: what narrow_block.cpp has per CPU level.

#include "kernels/vector_widths.h"

inline bool has_windows(const NarrowBlock& block, int64_t size,
                        int64_t stride) {
  return block.kernel[0] == size && block.kernel[1] == size &&
         block.stride == stride && block.across == stride &&
         block.dilation == 1;
}

template <int kRows>
inline void rows_of(const NarrowBlock& block, int64_t row, bool ends) {
  if (has_windows(block, 3, 1))
    return wide::some_rows<1, kRows, 3>(block, row, ends);
  if (has_windows(block, 3, 2))
    return wide::some_rows<2, kRows, 3>(block, row, ends);
  // Few factors leave registers for the sums of eight rows.
  if constexpr (kRows < 8) {
    if (has_windows(block, 5, 1))
      return wide::some_rows<1, kRows, 5>(block, row, ends);
    if (has_windows(block, 5, 2))
      return wide::some_rows<2, kRows, 5>(block, row, ends);
    if (block.across == 1)
      wide::some_rows<1, kRows, 0>(block, row, ends);
    else
      wide::some_rows<2, kRows, 0>(block, row, ends);
  }
}

template <int kAcross>
inline void short_row(const NarrowBlock& block, int64_t row, bool ends) {
  if (block.count >=
      static_cast<int64_t>(sizeof(narrow::Vector) / sizeof(float)))
    narrow::some_rows<kAcross, 1, 0>(block, row, ends);
  else
    single::some_rows<kAcross, 1, 0>(block, row, ends);
}

// Whether a row's windows reach over the image's first or last row.
inline bool at_end(const NarrowBlock& block, int64_t row) {
  const int64_t top = block.top + row * block.stride;
  return top < 0 || top + (block.kernel[0] - 1) * block.dilation >= block.lines;
}

inline void run(const NarrowBlock& block) {
  constexpr int64_t kWide = FXJIT_REGISTER;
  const bool eight =
      kWide == 16 && (has_windows(block, 3, 1) || has_windows(block, 3, 2));
  const int64_t most = block.count < kWide ? 1 : eight ? 8 : 4;
  for (int64_t row = 0, rows; row < block.rows; row += rows) {
    const bool ends = at_end(block, row);
    for (rows = 1; rows < most && row + rows < block.rows; ++rows)
      if (at_end(block, row + rows) != ends) break;
    if (block.count < kWide)
      block.across == 1 ? short_row<1>(block, row, ends)
                        : short_row<2>(block, row, ends);
    else if (rows == 8)
      rows_of<kWide == 16 ? 8 : 4>(block, row, ends);
    else if (rows >= 4)
      rows_of<4>(block, row, ends), rows = 4;
    else if (rows >= 2)
      rows_of<2>(block, row, ends), rows = 2;
    else
      rows_of<1>(block, row, ends);
  }
}
