// Modules from text, and their code, for tests of the engine.
#pragma once

#include <memory>
#include <string_view>

#include "jit/engine/compiler.h"
#include "jit/engine/ir_module.h"

namespace fxjit::jit {

// Reads textual LLVM IR. Throws UserError with line and reason.
IrModule parse_ir(std::string_view text, std::string_view name);

// Compiles, then links.
std::shared_ptr<CompiledCode> build(const Compiler& compiler, IrModule module);

}  // namespace fxjit::jit
