// The LLVM side of the engine's interface: how emitters make an IrModule.
// Included only by sources below jit/.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string_view>

#include "jit/engine/ir_module.h"

namespace fxjit::jit {

// The context is declared first, so that it dies after the module.
struct IrModule::Impl {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// An empty module with the host's triple and data layout.
IrModule make_ir_module(std::string_view name);

inline llvm::LLVMContext& context_of(const IrModule& module) {
  return *module.impl().context;
}
inline llvm::Module& module_of(const IrModule& module) {
  return *module.impl().module;
}

}  // namespace fxjit::jit
