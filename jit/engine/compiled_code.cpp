#include "jit/engine/compiled_code.h"

#include "fxjit/error.h"
#include "jit/engine/linker.h"

namespace fxjit::jit {

CompiledCode::CompiledCode(std::shared_ptr<Linker> linker, void* library,
                           Symbols symbols, size_t code_bytes,
                           CompileTimings timings)
    : linker_(std::move(linker)),
      library_(library),
      symbols_(std::move(symbols)),
      code_bytes_(code_bytes),
      timings_(timings) {}

CompiledCode::~CompiledCode() { linker_->remove(library_); }

void* CompiledCode::lookup(std::string_view symbol) const {
  const auto it = symbols_.find(symbol);
  if (it == symbols_.end()) {
    throw InternalError("[jit] compiled code has no symbol " +
                        std::string(symbol));
  }
  return it->second;
}

}  // namespace fxjit::jit
