#include "jit/engine/optimise.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "fxjit/error.h"
#include "jit/engine/analyses.h"
#include "jit/engine/sanitize.h"

namespace fxjit::jit {
namespace {

llvm::FunctionPassManager function_passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

}  // namespace

void verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) {
    throw InternalError("[jit] module " + module.getName().str() +
                        " does not verify: " + text);
  }
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine,
              const EngineOptions& options) {
  Analyses analyses(machine);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(function_passes()));
  add_sanitizer_passes(passes, module, options.sanitizer);
  passes.run(module, analyses.modules());
}

}  // namespace fxjit::jit
