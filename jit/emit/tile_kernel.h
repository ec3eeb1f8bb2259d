// One register tile of a contraction: sums of `rows` x `vectors` vectors over
// the whole depth, then the epilogue. Private to the contraction skeleton.
#pragma once

#include <string>

#include "jit/emit/vector_builder.h"
#include "src/program/packing.h"
#include "src/program/steps.h"

namespace fxjit::jit {

struct TileKernelShape {
  int rows = 1;
  int vectors = 1;
  int last_lanes = 0;  // Valid lanes of the last vector; 0 means all.
  // Neighbouring panels computed together, `vectors` vectors of each: single
  // rows would otherwise stop and start with every panel.
  int panels = 1;
};

// A private function of `b`'s module:
//   void name(ptr lhs, ptr panel, ptr prefetch, ptr extras..., ptr outputs...)
// Pointers are to the tile's first row and column. `prefetch` walks memory that
// the next panels will be read from, `prefetch_lines(...)` lines per step of
// `kDepthStep`.
llvm::Function* make_tile_kernel(VectorBuilder& b,
                                 const program::TileStep& step,
                                 const TileKernelShape& shape,
                                 const std::string& name);

// Depth elements handled per iteration of a tile's loop.
inline constexpr int kDepthStep = 2;
// The first tiles of a panel fetch the next panel, each an equal share.
inline constexpr int kPrefetchTiles = 4;
int prefetch_lines(const program::TileStep& step, CpuLevel level);
// Row tiles of the largest block.
int64_t tiles_per_block(const program::TileStep& step, CpuLevel level);

}  // namespace fxjit::jit
