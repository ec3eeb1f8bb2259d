// Makes modules ready for the code generator: IR passes for code that emitters
// already vectorised, which clean up and hoist but leave calls and loops as
// they were written. Used by the compiler only.
#pragma once

#include <llvm/IR/Module.h>

#include "jit/engine/engine_options.h"

namespace fxjit::jit {

class CodeGenerator;

// Prepares the module for the generator's target, optimises it in place and
// instruments it for the options' sanitizer. Writes what it was and became, and
// the assembly of a copy, to options.dump_folder, for people: files are named
// after the module. Throws InternalError with the verifier's text when `module`
// is malformed.
void optimise(llvm::Module& module, CodeGenerator& generator,
              const EngineOptions& options);

}  // namespace fxjit::jit
