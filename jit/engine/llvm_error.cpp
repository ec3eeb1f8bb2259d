#include "jit/engine/llvm_error.h"

#include <llvm/Support/ErrorHandling.h>

#include <new>

namespace fxjit::jit {
namespace {

thread_local int fatal_error_scopes = 0;

// Throwing out of LLVM's frames skips their clean-up (they are built without
// exceptions but with unwind tables), hence the leak that LlvmFatalError asks
// for.
void on_fatal_error(void*, const char* reason, bool) {
  if (fatal_error_scopes == 0) return;  // LLVM goes on to abort.
  throw LlvmFatalError(std::string("[jit] LLVM: ") + reason);
}

void on_bad_alloc(void*, const char*, bool) { throw std::bad_alloc(); }

void install_handlers() {
  [[maybe_unused]] static const bool installed = [] {
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_bad_alloc);
    return true;
  }();
}

}  // namespace

void throw_if(llvm::Error error, std::string_view what) {
  if (!error) return;
  throw InternalError("[jit] " + std::string(what) + ": " +
                      llvm::toString(std::move(error)));
}

FatalErrorScope::FatalErrorScope() {
  install_handlers();
  ++fatal_error_scopes;
}

FatalErrorScope::~FatalErrorScope() { --fatal_error_scopes; }

}  // namespace fxjit::jit
