// Integer products by weights of Format::tiles, of which a register's row is a
// quad of 16 columns: blocks of 2 x 2 tile registers of sums, and single rows
// by dot products with columns in the lanes. Used by the integer skeleton only.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/integers/form.h"

namespace fxjit::jit {

// Fills a function whose form has QuadSums::tiles.
void emit_tiled(VectorBuilder& b, const program::IntegerForm& form);

}  // namespace fxjit::jit
