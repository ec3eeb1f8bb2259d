// LLVM's code generator for one target: optimised modules to the bytes of
// object files, or to assembly for reading. Set up once for many modules, since
// building its two hundred passes takes longer than they need for a small
// kernel. Used by the compiler only.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "jit/engine/engine_options.h"
#include "jit/engine/ir_module.h"

namespace fxjit::jit {

// Used by one thread at a time. After an exception it must not be used again;
// after an LlvmFatalError it must be leaked.
class CodeGenerator {
 public:
  // Throws InternalError when LLVM lacks the host's back end.
  CodeGenerator(const EngineOptions& options, Effort effort);

  llvm::TargetMachine& machine() const { return *machine_; }
  // Of the modules that it is for.
  Effort effort() const { return effort_; }

  // Both consume the contents of `module`: lowering rewrites it. Throw
  // InternalError when code cannot be generated.
  std::string object(llvm::Module& module);
  std::string assembly(llvm::Module& module);

 private:
  const Effort effort_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  // What passes_ writes to.
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_;
  std::unique_ptr<llvm::legacy::PassManager> passes_;  // To objects.
};

}  // namespace fxjit::jit
