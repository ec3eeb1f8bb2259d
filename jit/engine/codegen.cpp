#include "jit/engine/codegen.h"

#include <llvm/Pass.h>
#include <llvm/PassInfo.h>
#include <llvm/PassRegistry.h>

#include <algorithm>

#include "fxjit/error.h"
#include "jit/engine/llvm_error.h"
#include "jit/engine/target.h"

namespace fxjit::jit {
namespace {

// Passes that take long and find nothing to gain in what our emitters write,
// by LLVM's names of them. Loop strength reduction alone takes a third of all
// time and gives addresses that are no better than base + index * 4.
constexpr llvm::StringRef kLeftOut[] = {
    "canon-freeze", "loop-reduce",     "consthoist",
    "early-ifcvt",  "select-optimize", "machine-combiner",
    "tileconfig",   "tilepreconfig",   "x86-domain-reassignment",
};

llvm::StringRef name_of(const llvm::Pass& pass) {
  const llvm::PassInfo* info =
      llvm::PassRegistry::getPassRegistry()->getPassInfo(pass.getPassID());
  return info == nullptr ? llvm::StringRef() : info->getPassArgument();
}

class LeanPassManager : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass* pass) override {
    const llvm::StringRef name = name_of(*pass);
    // The allocator before the configuration of AMX tiles looks for those only.
    std::unique_ptr<llvm::Pass> allocator = std::move(allocator_);
    if (allocator != nullptr && name != "tileconfig")
      llvm::legacy::PassManager::add(allocator.release());
    if (std::ranges::find(kLeftOut, name) != std::end(kLeftOut)) {
      delete pass;
    } else if (name == "greedy") {
      allocator_.reset(pass);
    } else {
      llvm::legacy::PassManager::add(pass);
    }
  }

 private:
  std::unique_ptr<llvm::Pass> allocator_;  // Not known yet which one it is.
};

std::unique_ptr<llvm::legacy::PassManager> make_passes(
    llvm::TargetMachine& machine, llvm::raw_pwrite_stream& stream,
    llvm::CodeGenFileType type) {
  auto passes = std::make_unique<LeanPassManager>();
  // Modules were verified before they were optimised.
  if (machine.addPassesToEmitFile(*passes, stream, nullptr, type,
                                  /*DisableVerify=*/true))
    throw InternalError("[jit] the target cannot emit this kind of file");
  return passes;
}

}  // namespace

CodeGenerator::CodeGenerator(const EngineOptions& options, Effort effort)
    : effort_(effort),
      machine_(make_target_machine(options, effort)),
      stream_(bytes_),
      passes_(
          make_passes(*machine_, stream_, llvm::CodeGenFileType::ObjectFile)) {}

std::string CodeGenerator::object(llvm::Module& module) {
  bytes_.clear();
  passes_->run(module);
  return std::string(bytes_.begin(), bytes_.end());
}

std::string CodeGenerator::assembly(llvm::Module& module) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  auto passes =
      make_passes(*machine_, stream, llvm::CodeGenFileType::AssemblyFile);
  try {
    passes->run(module);
  } catch (const LlvmFatalError&) {
    (void)passes.release();
    throw;
  }
  return std::string(text.begin(), text.end());
}

}  // namespace fxjit::jit
