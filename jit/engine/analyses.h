// What LLVM's passes ask for about the code: one object for one module.
#pragma once

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Target/TargetMachine.h>

namespace fxjit::jit {

// The analyses that the passes of optimise.cpp and sanitize.cpp use. LLVM's own
// PassBuilder knows all there are, and brings code that nobody calls into the
// library. A pass that asks for one which is not here ends the process: add it
// to analyses.cpp.
class Analyses {
 public:
  explicit Analyses(llvm::TargetMachine& machine);

  llvm::ModuleAnalysisManager& modules() { return modules_; }

 private:
  void register_functions(llvm::TargetMachine& machine);
  void register_proxies();

  // Inner managers are destroyed after those that refer to them.
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::ModuleAnalysisManager modules_;
};

}  // namespace fxjit::jit
