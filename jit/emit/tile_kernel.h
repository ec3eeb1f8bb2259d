// The contraction skeleton: register tiles over packed panels, with the
// epilogue applied while the sums are in registers or in the first-level cache.
// See program/tiles/run.h for what calls them, weights/panels.h for the layout.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/tiles/run.h"

namespace fxjit::jit {

// Emits `kernel` into the builder's function, a program::TileFn.
void emit_tile_kernel(VectorBuilder& b, const program::TileKernel& kernel);

}  // namespace fxjit::jit
