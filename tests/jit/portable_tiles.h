// Tile registers in C++, in place of AMX's instructions: kernels that use them
// run on any CPU then. What the instructions would refuse is an error.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

namespace fxjit::jit::testing {

// Puts calls in place of the instructions of a function. Returns how many there
// were. Such functions run on one thread at a time.
int replace_tiles(llvm::Function& function);

// What was wrong since the last time, registers that were not released
// included; empty if nothing was.
std::string tile_errors();

}  // namespace fxjit::jit::testing
