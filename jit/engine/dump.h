// Writes what the compiler saw to a folder, for people. Failures are logged
// and otherwise ignored. Used by the compiler only.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <string_view>

namespace fxjit::jit {

class CodeGenerator;

// <folder>/<module name><suffix> with the module's text. Characters that do
// not suit a file name become '_'.
void dump_ir(const llvm::Module& module, const std::string& folder,
             std::string_view suffix);

// <folder>/<module name>.s with the assembly of a copy of `module`.
void dump_assembly(const llvm::Module& module, CodeGenerator& generator,
                   const std::string& folder);

}  // namespace fxjit::jit
