// Columns seen as rows whose neighbours lie together, and back.
#pragma once

#include "src/program/columns/step.h"
#include "src/program/rows/step.h"

namespace fxjit::program {

// Each column, of one reduced dim, is a row.
RowStep to_rows(ColumnStep step);
// The last outer dim has the columns.
ColumnStep to_columns(RowStep step);

}  // namespace fxjit::program
