// LLVM's sanitizers over generated code, and the runtime symbols that the
// instrumentation calls. Used by the files of jit/engine/ only.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include "jit/engine/engine_options.h"
#include "jit/engine/symbol_table.h"

namespace fxjit::jit {

// Marks the functions of `module` and appends the instrumentation; nothing for
// Sanitizer::none.
void add_sanitizer_passes(llvm::ModulePassManager& passes, llvm::Module& module,
                          Sanitizer sanitizer);

// Adds those entry points of the running sanitizer that exist in this process.
void add_sanitizer_symbols(SymbolTable& symbols);

}  // namespace fxjit::jit
