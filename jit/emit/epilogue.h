// What contractions and convolutions do to one vector of sums: extras are
// loaded, the epilogue's body is applied, results are stored. Private to the
// skeletons with TileAccess operands.
#pragma once

#include <vector>

#include "jit/emit/vector_builder.h"
#include "src/program/tiles/access.h"

namespace fxjit::jit {

// Where the operands of an epilogue lie, extras first: an array of
// program::TileOperand.
class EpilogueOperands {
 public:
  EpilogueOperands(VectorBuilder& b, const program::Epilogue& epilogue,
                   Value* operands);

  // Operand `i` in this row and column; a null column is the first.
  Value* at(size_t i, Value* row, Value* column) const;

  // The extras that are one number for all of the call, in all of `lanes`; null
  // for the others. Loaded here, as no store can be known not to change them.
  Values numbers(int lanes = 0) const;

 private:
  VectorBuilder& b_;
  const program::Epilogue& epilogue_;
  Values first_, row_bytes_;
};

// Input slot 0 of `body` is `sum`, of any number of lanes, extras from 1.
// `address` gives the first
// element of operand `i`, extras first, for this vector. Lanes that are off in
// `mask` are not touched; null means that none is. Extras that are not null in
// `numbers` are not loaded; it may be empty.
void emit_tile_epilogue(VectorBuilder& b, const ScalarBody& body,
                        const std::vector<program::TileAccess>& extras,
                        const std::vector<program::TileAccess>& outputs,
                        llvm::function_ref<Value*(size_t i)> address,
                        Value* sum, Value* mask, const Values& numbers = {});

// Epilogues whose program::body_cost is more are emitted once and looped over,
// the sums waiting in the first-level cache: a fraction of the code for nearly
// no time.
inline constexpr int kInlineEpilogueCost = 6;

}  // namespace fxjit::jit
