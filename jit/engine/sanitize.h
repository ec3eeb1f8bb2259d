// LLVM's sanitizers over generated code, and the runtime symbols that the
// instrumentation calls. Used by the files of jit/engine/ only.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include <string>

#include "jit/engine/engine_options.h"

namespace fxjit::jit {

// Marks the functions of `module` and appends the instrumentation; nothing for
// Sanitizer::none.
void add_sanitizer_passes(llvm::ModulePassManager& passes, llvm::Module& module,
                          Sanitizer sanitizer);

// The entry point of the running sanitizer that instrumented code calls by this
// name; null where there is none.
void* sanitizer_symbol(const std::string& symbol);

}  // namespace fxjit::jit
