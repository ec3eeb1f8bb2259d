// IR passes for modules whose emitters already vectorised them: cleans up
// and hoists, but leaves calls and loops as they were written. Used by the
// compiler only.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "jit/engine/engine_options.h"

namespace fxjit::jit {

// Throws InternalError with the verifier's text when `module` is malformed.
void verify(const llvm::Module& module);

// Optimises in place and instruments for the options' sanitizer.
void optimise(llvm::Module& module, llvm::TargetMachine& machine,
              const EngineOptions& options);

}  // namespace fxjit::jit
