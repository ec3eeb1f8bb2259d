// Whether rows, or columns, are too few and too long for the threads that there
// are, so that each is cut into pieces of its own.
#pragma once

#include <cstdint>
#include <optional>

#include "fxjit/scalar_body.h"
#include "src/program/steps/machine.h"

namespace fxjit::program {

struct ColumnStep;
struct RowStep;

// The primitive that combines the results of a reduction over two pieces;
// nullopt if there is none.
std::optional<Prim> combination(Prim reduction);

// The number of equal pieces that each row or column of the step is cut into, 1
// to leave it whole. The step must not have been analysed yet.
int64_t row_pieces(const RowStep& step, const Machine& machine);
int64_t column_pieces(const ColumnStep& step, const Machine& machine);

}  // namespace fxjit::program
