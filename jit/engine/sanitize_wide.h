// LLVM's ThreadSanitizer pass skips accesses wider than 16 bytes, masked ones,
// gathers and scatters, which is most of what we generate. This pass announces
// those to the runtime. Used by sanitize.cpp only.
#pragma once

#include <llvm/IR/PassManager.h>

#include "jit/engine/symbol_table.h"

namespace fxjit::jit {

class WideAccessPass : public llvm::PassInfoMixin<WideAccessPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses);
};

// The functions that the inserted calls name.
void add_wide_access_symbols(SymbolTable& symbols);

}  // namespace fxjit::jit
