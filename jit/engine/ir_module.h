// A finished LLVM module together with its context. Emitters make one by
// make_ir_module, tests from text; jit::Compiler consumes it. Included only
// by sources below jit/ and their tests. Used by one thread at a time.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string_view>

namespace fxjit::jit {

// What is worth doing for a module's code.
enum class Effort {
  fast_code,     // Loops: what makes them faster.
  fast_compile,  // Straight code that runs once a call: as little as possible.
};

// The context is declared first, so that it dies after the module. Never
// assigned: that would free the old context before the old module.
struct IrModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  Effort effort = Effort::fast_code;
};

// An empty module with the host's triple and data layout.
IrModule make_ir_module(std::string_view name);

}  // namespace fxjit::jit
