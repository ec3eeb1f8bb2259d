#include "jit/engine/codegen.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

#include "fxjit/error.h"
#include "jit/engine/llvm_error.h"

namespace fxjit::jit {

std::string generate(llvm::Module& module, llvm::TargetMachine& machine,
                     CodegenOutput output) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  auto passes = std::make_unique<llvm::legacy::PassManager>();
  const auto type = output == CodegenOutput::object
                        ? llvm::CodeGenFileType::ObjectFile
                        : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(*passes, stream, nullptr, type)) {
    throw InternalError("[jit] the target cannot emit " +
                        module.getName().str());
  }
  try {
    passes->run(module);
  } catch (const LlvmFatalError&) {
    (void)passes.release();
    throw;
  }
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace fxjit::jit
