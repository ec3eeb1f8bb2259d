#include "jit/engine/sanitize.h"

#include <dlfcn.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>

#include <cstring>

#include "jit/engine/sanitize_wide.h"

namespace fxjit::jit {
namespace {

void mark_functions(llvm::Module& module, llvm::Attribute::AttrKind kind) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) function.addFnAttr(kind);
  }
}

// g++'s runtime agrees with LLVM 19 on shadow offset, scale and report calls.
// The version check and global registration live in a module constructor,
// which a JIT without a platform does not run: both are left out.
llvm::AddressSanitizerPass address_pass() {
  llvm::AddressSanitizerOptions options;
  options.InsertVersionCheck = false;
  options.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
  return llvm::AddressSanitizerPass(
      options, /*UseGlobalGC=*/false, /*UseOdrIndicator=*/false,
      llvm::AsanDtorKind::None, llvm::AsanCtorKind::None);
}

void* thread_symbol(const std::string& symbol) {
  // The runtime of g++ 12 knows these under their usual names only, and
  // intercepts those.
  if (symbol == "__tsan_memcpy") return reinterpret_cast<void*>(&std::memcpy);
  if (symbol == "__tsan_memmove") return reinterpret_cast<void*>(&std::memmove);
  if (symbol == "__tsan_memset") return reinterpret_cast<void*>(&std::memset);
  if (void* wide = wide_access_symbol(symbol)) return wide;
  return symbol.starts_with("__tsan_") ? dlsym(RTLD_DEFAULT, symbol.c_str())
                                       : nullptr;
}

}  // namespace

void add_sanitizer_passes(llvm::ModulePassManager& passes, llvm::Module& module,
                          Sanitizer sanitizer) {
  switch (sanitizer) {
    case Sanitizer::none:
      return;
    case Sanitizer::address:
      mark_functions(module, llvm::Attribute::SanitizeAddress);
      passes.addPass(address_pass());
      return;
    case Sanitizer::thread:
      mark_functions(module, llvm::Attribute::SanitizeThread);
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(WideAccessPass()));
      passes.addPass(
          llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
      return;
  }
}

void* sanitizer_symbol(const std::string& symbol) {
  switch (build_sanitizer()) {
    case Sanitizer::none:
      break;
    case Sanitizer::address:
      return symbol.starts_with("__asan_") ? dlsym(RTLD_DEFAULT, symbol.c_str())
                                           : nullptr;
    case Sanitizer::thread:
      return thread_symbol(symbol);
  }
  return nullptr;
}

}  // namespace fxjit::jit
