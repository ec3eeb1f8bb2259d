// LLVM's ThreadSanitizer pass skips accesses wider than 16 bytes, masked ones,
// gathers and scatters, which is most of what we generate. This pass announces
// those to the runtime. Used by sanitize.cpp only.
#pragma once

#include <llvm/IR/PassManager.h>

#include <string_view>

namespace fxjit::jit {

class WideAccessPass : public llvm::PassInfoMixin<WideAccessPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& analyses);
};

// The function that an inserted call names so; null for other names.
void* wide_access_symbol(std::string_view name);

}  // namespace fxjit::jit
