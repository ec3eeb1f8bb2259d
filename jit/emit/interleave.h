// The order of straight-line vector code. Used by the row skeleton and for
// epilogues.
#pragma once

#include <llvm/IR/BasicBlock.h>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// Reorders the instructions after `before` (from the beginning of the block if
// null), up to the first one that writes memory. Those with the longest path of
// latencies to a last result come first. Independent chains that were emitted
// one after the other then run side by side, since the processor looks only
// about 100 instructions ahead. The latencies are rough ones of current
// processors. The order stays as it is if more than `max_live` vectors would be
// alive at once.
void interleave_chains(llvm::BasicBlock& block, llvm::Instruction* before,
                       int max_live);

// The order of what is emitted for several vectors, from the builder's position
// on: side by side, since each waits for its own results and processors look
// only some dozens of instructions ahead.
class SideBySide {
 public:
  explicit SideBySide(VectorBuilder& b);
  // Before the first store.
  void arrange() const;

 private:
  VectorBuilder& b_;
  llvm::BasicBlock* block_;
  llvm::Instruction* before_;
};

}  // namespace fxjit::jit
