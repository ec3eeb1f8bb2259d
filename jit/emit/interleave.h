// The order of straight-line vector code. Used by the row skeleton.
#pragma once

#include <llvm/IR/BasicBlock.h>

namespace fxjit::jit {

// Sorts the instructions behind `before` (from the block's begin if null) by
// the length of the path to the last result, longest first, up to the first one
// that writes memory: independent chains that were emitted one after the other
// go side by side, and the machine, which looks some 100 instructions ahead,
// finds more of them ready. Latencies are rough ones of current cores. Leaves
// the order as it is where more than `max_live` vectors would be alive at once.
void interleave_chains(llvm::BasicBlock& block, llvm::Instruction* before,
                       int max_live);

}  // namespace fxjit::jit
