// An optimised module to the bytes of an object file, or to assembly for
// reading. Used by the compiler only.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace fxjit::jit {

enum class CodegenOutput { object, assembly };

// Consumes the contents of `module`: lowering rewrites it. Throws
// InternalError when code cannot be generated.
std::string generate(llvm::Module& module, llvm::TargetMachine& machine,
                     CodegenOutput output);

}  // namespace fxjit::jit
