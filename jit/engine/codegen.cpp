#include "jit/engine/codegen.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include "fxjit/error.h"

namespace fxjit::jit {

std::string generate(llvm::Module& module, llvm::TargetMachine& machine,
                     CodegenOutput output) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto type = output == CodegenOutput::object
                        ? llvm::CodeGenFileType::ObjectFile
                        : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw InternalError("[jit] the target cannot emit " +
                        module.getName().str());
  }
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace fxjit::jit
