// Weights of a few bits with a scale, and perhaps a zero point, for each block
// of the depth of each column: (code - zero) * scale. They stay packed; tiles
// decode them in registers.
//
// A panel of columns is block after block: the scales of its columns, their
// zero points, words. A word has codes of one column that follow each other
// along the depth, in two's complement, the first in the lowest bits; the last
// word of a block is filled up by zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fxjit/tensor.h"
#include "src/support/rounding.h"

namespace fxjit::weights {

struct Blocks {
  int64_t size = 0;         // Rows of the depth; 0: the weight has no blocks.
  int bits = 4;             // Of a code: 2, 4 or 8.
  bool has_zeros = false;   // Else they are all 0.
  bool has_halves = false;  // Scales are f16, else f32.

  int64_t word_codes() const { return 32 / bits; }
  int64_t words() const { return support::ceil_div(size, word_codes()); }
  // Where parts of a block lie, and its bytes, for panels of `width` columns.
  int64_t zeros_at(int64_t width) const { return width * (has_halves ? 2 : 4); }
  int64_t words_at(int64_t width) const {
    return zeros_at(width) + (has_zeros ? width : 0);
  }
  int64_t bytes(int64_t width) const {
    return words_at(width) + words() * width * 4;
  }
  int64_t panel_bytes(int64_t depth, int64_t width) const {
    return support::ceil_div(depth, size) * bytes(width);
  }

  friend bool operator==(const Blocks&, const Blocks&) = default;
};

// How a program has them.
struct StoredCodes {
  int64_t block = 0;  // Rows of the depth; 0: the weight is none of this kind.
  int bits = 8;       // Of a code; those of a row lie together in bytes.
  bool by_column = false;  // Rows of the tensor are columns of the matrix.

  friend bool operator==(const StoredCodes&, const StoredCodes&) = default;
};

// Codes of i8 or u8, as they are stored: [rows, bytes]. Scales are of a type of
// floats, [blocks, columns]; so are zero points, of i8 or u8, or they are [1,
// 1] or undefined.
struct CodeMatrix {
  StoredCodes stored;
  Tensor codes, scales, zeros;
  int64_t depth, columns;
};

// What is subtracted from codes, and from zero points, makes them numbers with
// a sign.
struct BlocksCoding {
  Blocks blocks;
  int shift = 0;

  friend bool operator==(const BlocksCoding&, const BlocksCoding&) = default;
};

// Codes of 8 bits are kept in as few as hold them. `halves`: whether scales may
// be f16, where they are numbers of it.
BlocksCoding find_blocks(const CodeMatrix& matrix, bool halves);

// Writes the panels of all columns.
void pack_blocks(const CodeMatrix& matrix, const BlocksCoding& coding,
                 int64_t width, std::byte* out);

}  // namespace fxjit::weights
