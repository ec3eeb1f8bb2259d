// Matrices of 8-bit integers as tiles of inner products read them: quads of
// four rows of a column, groups of four columns side by side,
// [ceil(N/4)][K/4][4][4], and for tile registers (Format::tiles) of sixteen,
// [ceil(N/16)][K/4][16][4], so that 16 quads of a group fill a register.
//
// `vpmaddubsw` adds two products of a u8 and an s8 in 16 bits and saturates. It
// is exact for every u8 where the positive weights of such a pair add up to at
// most 128 and the negative ones to at least -128, as 255 * 128 fits; so it is
// for `group` quads whose 16-bit sums are added. Weights are clipped to that
// when they are packed, and what is cut off becomes fixes of the column: more
// quads, of other rows. All columns of a group of four have equally many. A
// `group` of 0 clips nothing: `vpdpbusd` adds products of quads in 32 bits, and
// so do tile registers.
//
// Behind one another: i32 sums of the columns, u32 ends of the QuadFixes of
// each group of columns, the quads, the QuadFixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fxjit/dtype.h"
#include "src/weights/format.h"

namespace fxjit::weights {

// An 8-bit matrix [depth, columns], strides in elements.
struct ByteMatrix {
  const uint8_t* data;
  bool is_unsigned;
  int64_t depth, columns;
  int64_t depth_stride, column_stride;

  // u8 numbers are kept less by 128.
  int at(int64_t k, int64_t n) const {
    const uint8_t bits = data[k * depth_stride + n * column_stride];
    return is_unsigned ? int{bits} - 128 : int{static_cast<int8_t>(bits)};
  }
};
inline constexpr int kUnsignedShift = 128;

inline constexpr int64_t kQuadRows = 4, kQuadColumns = 4;
// Quads of a column are a multiple of this.
inline constexpr int64_t kQuadMultiple = 4;

// A tile register: rows of 64 bytes, each a quad of 16 columns.
inline constexpr int64_t kTileRows = 16, kTileColumns = 16;

// More quads of a group of columns, one of each. The first two fields are read
// as vectors.
struct QuadFixes {
  int32_t places[kQuadColumns];  // Which quad of the depth, times kFixPlace.
  int32_t bytes[kQuadColumns];   // Four s8.
};
// Bytes of a quad of rows where they are fewest: four columns of one row.
inline constexpr int64_t kFixPlace = kQuadRows * kQuadColumns;

// Where the parts of a packed matrix begin, in bytes.
struct QuadLayout {
  QuadLayout(int64_t depth, int64_t columns, Format format = Format::quads,
             int64_t fixes = 0);

  int64_t group_columns;
  int64_t multiple;  // Quads of a column are one of this.
  int64_t quads;     // Of a column.
  int64_t groups;    // Of columns.
  // Without fixes matrices may follow one another.
  int64_t ends_at, quads_at, fixes_at, bytes;

  int64_t group_bytes() const { return quads * kQuadRows * group_columns; }
};

// How many QuadFixes a matrix has.
int64_t count_fixes(const ByteMatrix& matrix, int group);

// A matrix [depth, columns] of 16 bits, strides in elements.
struct ShortMatrix {
  const int16_t* data;
  int64_t depth, columns;
  int64_t depth_stride, column_stride;
};

// Writes pairs of the depth where bytes have quads, and no sums nor fixes:
// QuadLayout(2 * depth, columns).bytes.
void pack_pairs(const ShortMatrix& matrix, std::byte* out);

// Writes QuadLayout(depth, columns, format, fixes).bytes, with as many fixes as
// count_fixes(matrix, quad_group(format)) says.
void pack_quads(const ByteMatrix& matrix, Format format, std::byte* out);

}  // namespace fxjit::weights
