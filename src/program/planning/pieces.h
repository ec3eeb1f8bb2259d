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

// The primitive that puts together what a reduction made of two pieces;
// nullopt: there is none.
std::optional<Prim> combination(Prim reduction);

// How many equal pieces each row or column is cut into; 1: none. The step was
// not analysed.
int64_t row_pieces(const RowStep& step, const Machine& machine);
int64_t column_pieces(const ColumnStep& step, const Machine& machine);

}  // namespace fxjit::program
