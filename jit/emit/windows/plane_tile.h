// Tiles of windows over planes: lanes are columns. For jit/emit/windows alone.
#pragma once

#include <map>
#include <vector>

#include "jit/emit/vector_builder.h"
#include "src/program/windows/form.h"

namespace fxjit::jit {

// Which results read a row of the input: result row `result` by tap `tap`.
struct RowUse {
  int64_t result, tap;
};

// Rows of the input under the windows of some rows of results, by their
// distance from the first.
std::map<int64_t, std::vector<RowUse>> window_rows(
    const program::WindowForm& form);

// What a tile is made of, at the builder's position.
struct PlaneTile {
  // Starts of the rows of window_rows(), those of the first tap of depth first:
  // the element under the left tap of place 0 lies `pad` before.
  Values rows;
  // Whether they are in the input. Weights that are not finite must not meet
  // the zeros outside: with `exact` products with these are left out.
  Values rows_inside;
  bool exact = false;
  Values weights;          // By tap, in all lanes; empty: they are in memory,
  Value* table = nullptr;  // here.
  // Whether a maximum keeps NaN, which takes longer. Where it does not, `seen`
  // tells of those that were met: in all lanes zero, or -1 in some.
  bool keeps_nan = true;
  Value* seen = nullptr;
  // With program::carries_columns(), of tiles without masks: by row of the
  // result, what the first tap of the first place reads, in lane 0.
  Values before;
  Value* outside = nullptr;  // Points to what counts outside the input.
  Value* bias = nullptr;     // In all lanes; may be null.
  Value* pad = nullptr;      // i64: columns before the input.
  Value* width = nullptr;    // i64: columns of the input.
};

// What PlaneTile::before is for a first tile at `column`; NaN is seen.
Values columns_before(VectorBuilder& b, const program::WindowForm& form,
                      PlaneTile& tile, Value* column);

// The combined elements [row][vector] of the places from `column` on; updates
// what the next tile is told. With `masked`, elements outside the input are not
// touched.
std::vector<Values> emit_plane_tile(VectorBuilder& b,
                                    const program::WindowForm& form,
                                    PlaneTile& tile, Value* column,
                                    int64_t vectors, bool masked);

}  // namespace fxjit::jit
