// The host as LLVM's code generator sees it, at a chosen CPU level. Used by
// the files of jit/engine/ only.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "jit/engine/engine_options.h"
#include "jit/engine/ir_module.h"

namespace fxjit::jit {

// A target machine for one compilation: it is not thread-safe. Throws
// InternalError when LLVM lacks the host's back end.
std::unique_ptr<llvm::TargetMachine> make_target_machine(
    const EngineOptions& options, Effort effort = Effort::fast_code);

// LLVM's name for the processor that a level stands for, and the features it
// has beyond that.
struct Processor {
  const char* name;
  const char* features;
};
Processor processor_of(CpuLevel level);

// Gives a module the triple, layout and function attributes that code
// generation for `options` expects.
void prepare_module(llvm::Module& module, const llvm::TargetMachine& machine,
                    const EngineOptions& options);

}  // namespace fxjit::jit
