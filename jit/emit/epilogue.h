// What contractions and convolutions do to one vector of sums: extras are
// loaded, the epilogue's body is applied, results are stored. Private to the
// skeletons with TileAccess operands.
#pragma once

#include <functional>
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

// One vector of sums, of any number of lanes. `address` gives the first element
// of operand `i`, extras first, for it. Lanes that are off in `mask` are not
// touched; null means that none is.
struct EpilogueVector {
  Value* sum = nullptr;
  Value* mask = nullptr;
  std::function<Value*(size_t i)> address;
};

// Input slot 0 of `body` is a vector's sums, extras from 1. Extras that are not
// null in `numbers` are not loaded; it may be empty. Several vectors are
// computed side by side, since each would wait for its own results: the first
// stores come after the last loads, so that no output may lie where an extra of
// another vector does.
void emit_tile_epilogue(VectorBuilder& b, const ScalarBody& body,
                        const std::vector<program::TileAccess>& extras,
                        const std::vector<program::TileAccess>& outputs,
                        const std::vector<EpilogueVector>& vectors,
                        const Values& numbers = {});

// Epilogues whose program::body_cost is more are emitted once and looped over,
// the sums waiting in the first-level cache: a fraction of the code for nearly
// no time.
inline constexpr int kInlineEpilogueCost = 6;
// How many vectors an epilogue is computed for side by side.
int epilogue_vectors(const ScalarBody& body);

}  // namespace fxjit::jit
