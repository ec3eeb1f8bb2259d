// What contractions and convolutions do to one vector of sums: extras are
// loaded, the epilogue's body is applied, results are stored. Private to the
// skeletons with TileAccess operands.
#pragma once

#include <functional>
#include <vector>

#include "jit/emit/vector_builder.h"
#include "src/program/tiles/access.h"

namespace fxjit::jit {

struct TileEpilogue {
  const ScalarBody& body;  // Input slot 0 is the sum, extras from 1.
  const std::vector<program::TileAccess>& extras;
  const std::vector<program::TileAccess>& outputs;
  // First element of extra or output `i` for this vector.
  std::function<Value*(size_t i)> extra_at;
  std::function<Value*(size_t i)> output_at;
};

// Lanes that are off in `mask` are not touched; null means that none is.
void emit_tile_epilogue(VectorBuilder& b, const TileEpilogue& epilogue,
                        Value* sum, Value* mask);

// What its instructions cost, see prim_cost. Epilogues that cost more
// than kInlineEpilogueCost are emitted once and looped over, the sums waiting
// in the first-level cache: a fraction of the code for nearly no time.
int tile_epilogue_cost(const ScalarBody& body);
inline constexpr int kInlineEpilogueCost = 6;

}  // namespace fxjit::jit
