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
#include <llvm/Transforms/Utils/Cloning.h>

#include <cctype>
#include <string>

#include "fxjit/error.h"
#include "jit/engine/analyses.h"
#include "jit/engine/codegen.h"
#include "jit/engine/sanitize.h"
#include "jit/engine/target.h"
#include "src/support/disk/dump_file.h"

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

void verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) {
    throw InternalError("[jit] module " + module.getName().str() +
                        " does not verify: " + text);
  }
}

// Characters that do not suit a file name become '_'.
std::string file_stem(const llvm::Module& module) {
  std::string stem = module.getName().str();
  for (char& c : stem) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!plain && c != '-' && c != '.') c = '_';
  }
  return stem.empty() ? "module" : stem;
}

void dump(const llvm::Module& module, const std::string& folder,
          const char* suffix, const std::string& text) {
  support::write_dump(folder, file_stem(module) + suffix, text);
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

void run_passes(llvm::Module& module, CodeGenerator& generator,
                Sanitizer sanitizer) {
  const bool quick = generator.effort() == Effort::fast_compile;
  if (quick && sanitizer == Sanitizer::none) return;
  Analyses analyses(generator.machine());
  llvm::ModulePassManager passes;
  if (!quick) {
    passes.addPass(llvm::GlobalDCEPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(function_passes()));
  }
  add_sanitizer_passes(passes, module, sanitizer);
  passes.run(module, analyses.modules());
}

}  // namespace

void optimise(llvm::Module& module, CodeGenerator& generator,
              const EngineOptions& options) {
  const std::string& folder = options.dump_folder;
  llvm::TargetMachine& machine = generator.machine();
  prepare_module(module, machine, options);
  if (!folder.empty()) dump(module, folder, ".before.ll", text_of(module));
  verify(module);
  run_passes(module, generator, options.sanitizer);
  if (folder.empty()) return;
  dump(module, folder, ".after.ll", text_of(module));
  const auto copy = llvm::CloneModule(module);
  dump(module, folder, ".s", generator.assembly(*copy));
}

}  // namespace fxjit::jit
