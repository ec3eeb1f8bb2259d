#include "jit/engine/compiled_code.h"

#include "fxjit/error.h"

namespace fxjit::jit {

CompiledCode::CompiledCode(std::shared_ptr<void> pages, Symbols symbols,
                           size_t code_bytes, CompileTimings timings)
    : pages_(std::move(pages)),
      symbols_(std::move(symbols)),
      code_bytes_(code_bytes),
      timings_(timings) {}

void* CompiledCode::lookup(std::string_view symbol) const {
  const auto it = symbols_.find(symbol);
  if (it == symbols_.end()) {
    throw InternalError("[jit] compiled code has no symbol " +
                        std::string(symbol));
  }
  return it->second;
}

}  // namespace fxjit::jit
