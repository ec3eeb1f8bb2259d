#include "jit/engine/analyses.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/StackSafetyAnalysis.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TypeBasedAliasAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/PassInstrumentation.h>

namespace fxjit::jit {
namespace {

template <typename Analysis, typename Manager>
void add(Manager& manager) {
  manager.registerPass([] { return Analysis(); });
}

llvm::AAManager alias_analyses() {
  llvm::AAManager analyses;
  analyses.registerFunctionAnalysis<llvm::BasicAA>();
  analyses.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
  analyses.registerFunctionAnalysis<llvm::TypeBasedAA>();
  return analyses;
}

}  // namespace

Analyses::Analyses(llvm::TargetMachine& machine) {
  add<llvm::PassInstrumentationAnalysis>(modules_);
  add<llvm::ProfileSummaryAnalysis>(modules_);
  add<llvm::StackSafetyGlobalAnalysis>(modules_);
  add<llvm::PassInstrumentationAnalysis>(loops_);
  register_functions(machine);
  register_proxies();
}

void Analyses::register_functions(llvm::TargetMachine& machine) {
  functions_.registerPass([&] { return machine.getTargetIRAnalysis(); });
  functions_.registerPass(alias_analyses);
  add<llvm::PassInstrumentationAnalysis>(functions_);
  add<llvm::AssumptionAnalysis>(functions_);
  add<llvm::BasicAA>(functions_);
  add<llvm::BlockFrequencyAnalysis>(functions_);
  add<llvm::BranchProbabilityAnalysis>(functions_);
  add<llvm::DominatorTreeAnalysis>(functions_);
  add<llvm::LoopAnalysis>(functions_);
  add<llvm::MemorySSAAnalysis>(functions_);
  add<llvm::OptimizationRemarkEmitterAnalysis>(functions_);
  add<llvm::PostDominatorTreeAnalysis>(functions_);
  add<llvm::ScalarEvolutionAnalysis>(functions_);
  add<llvm::ScopedNoAliasAA>(functions_);
  add<llvm::StackSafetyAnalysis>(functions_);
  add<llvm::TargetLibraryAnalysis>(functions_);
  add<llvm::TypeBasedAA>(functions_);
}

void Analyses::register_proxies() {
  modules_.registerPass(
      [&] { return llvm::FunctionAnalysisManagerModuleProxy(functions_); });
  functions_.registerPass(
      [&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules_); });
  functions_.registerPass(
      [&] { return llvm::LoopAnalysisManagerFunctionProxy(loops_); });
  loops_.registerPass(
      [&] { return llvm::FunctionAnalysisManagerLoopProxy(functions_); });
}

}  // namespace fxjit::jit
