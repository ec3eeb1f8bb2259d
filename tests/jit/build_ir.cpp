#include "tests/jit/build_ir.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>

#include <string>

#include "fxjit/error.h"

namespace fxjit::jit {

IrModule parse_ir(std::string_view text, std::string_view name) {
  IrModule ir{std::make_unique<llvm::LLVMContext>(), nullptr};
  llvm::SMDiagnostic diagnostic;
  const std::string owned(text);  // The parser wants a final zero.
  ir.module = llvm::parseAssembly(
      llvm::MemoryBufferRef(owned, llvm::StringRef(name.data(), name.size())),
      diagnostic, *ir.context);
  if (ir.module == nullptr) {
    throw UserError("[jit] " + std::string(name) + ":" +
                    std::to_string(diagnostic.getLineNo()) + ": " +
                    diagnostic.getMessage().str());
  }
  ir.module->setModuleIdentifier(llvm::StringRef(name.data(), name.size()));
  return ir;
}

std::shared_ptr<CompiledCode> build(const Compiler& compiler, IrModule module) {
  return compiler.link(compiler.compile(std::move(module)));
}

}  // namespace fxjit::jit
