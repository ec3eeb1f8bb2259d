// What the code of an integer product's tiles depends on, and what it is given.
// Lanes are rows here: a vector holds a quad of the depth of each of them, and
// the weights' quads are broadcast, so that every column may have fixes of its
// own (weights/quads.h). Sums go to scratch and are read back along rows by the
// epilogue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/program/tiles/access.h"
#include "src/program/tiles/form.h"

namespace fxjit::program {

// How products of quads are added.
enum class QuadSums : uint8_t {
  shorts,   // Numbers of 16 bits, in pairs: in 32 bits by one instruction.
  clipped,  // In 16 bits, for which the weights are clipped, and their fixes.
  dot,      // Each quad's in 32 bits by one instruction.
  signs,    // As `clipped`, one quad each, of magnitudes of the row: its signs
            // go into the weights, which need not be clipped then.
  tiles,    // In tile registers; a single row as `dot`, with as many columns
            // in its lanes.
};

// A tile of rows by some groups of columns.
struct IntegerCall {
  // [quads][vectors][lanes][4 bytes]; of a single row [quads][4 columns][4
  // bytes]. For `signs` of magnitudes, and behind them as many of signs. For
  // `tiles` rows as they are, `lhs_row` bytes apart.
  const std::byte* lhs;
  const std::byte* weights;     // Quads of the first group of columns.
  const int32_t* column_sums;   // Of the first group.
  const uint32_t* fix_ends;     // Of the first group; its start is `first_fix`.
  const std::byte* fixes;       // All of the matrix.
  const int32_t* row_starts;    // What the sums of each row begin with.
  int32_t* sums;                // [rows][sums_row]
  const TileOperand* operands;  // Extras, then outputs.
  int64_t groups;
  int64_t quads;
  int64_t first_fix;
  int64_t sums_row;
  int64_t rows;     // That there are.
  int64_t columns;  // That there are.
  // The sums of a column begin with so much of the sum of its weights.
  int64_t column_factor;
  int64_t lhs_row;
};

using IntegerFn = void (*)(const IntegerCall* call);

struct IntegerForm : Epilogue {  // Without sizes.
  using Fn = IntegerFn;

  // Of rows, or tiles of them; 0: one row, lanes are columns of several quads.
  int vectors = 1;
  QuadSums adds = QuadSums::clipped;
  int group = 1;  // Quads that are added in 16 bits.
  // Sums begin with what stands for numbers that were moved.
  bool has_starts = false;
  bool is_signed = false;  // Of `tiles`: rows are s8.

  friend bool operator==(const IntegerForm&, const IntegerForm&) = default;
};

// Text that is equal for equal forms.
std::string form_key(const IntegerForm& form);

}  // namespace fxjit::program
