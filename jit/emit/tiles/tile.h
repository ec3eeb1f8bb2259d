// The contraction skeleton: register tiles over packed panels, with the
// epilogue applied while the sums are in registers or in the first-level cache.
// See program/tiles/run.h for what calls them, weights/panels.h for the layout.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/tiles/form.h"

namespace fxjit::jit {

// Emits the code of `form` into the builder's function, a program::TileFn.
void emit(VectorBuilder& b, const program::TileForm& form);

}  // namespace fxjit::jit
