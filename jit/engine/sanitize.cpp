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

void add_if_present(SymbolTable& symbols, const std::string& name) {
  if (void* address = dlsym(RTLD_DEFAULT, name.c_str())) {
    symbols.add_address(name, address);
  }
}

void add_address_symbols(SymbolTable& symbols) {
  for (const char* access : {"load", "store"}) {
    for (const char* size : {"1", "2", "4", "8", "16", "_n"}) {
      add_if_present(symbols, std::string("__asan_report_") + access + size);
    }
    for (const char* size : {"1", "2", "4", "8", "16", "N"}) {
      add_if_present(symbols, std::string("__asan_") + access + size);
    }
  }
  for (const char* name :
       {"__asan_memcpy", "__asan_memmove", "__asan_memset",
        "__asan_handle_no_return", "__asan_alloca_poison",
        "__asan_allocas_unpoison", "__asan_poison_stack_memory",
        "__asan_unpoison_stack_memory", "__asan_set_shadow_00",
        "__asan_set_shadow_f1", "__asan_set_shadow_f2", "__asan_set_shadow_f3",
        "__asan_set_shadow_f5", "__asan_set_shadow_f8"}) {
    add_if_present(symbols, name);
  }
}

void add_thread_symbols(SymbolTable& symbols) {
  for (const char* access : {"read", "write"}) {
    for (const char* size : {"1", "2", "4", "8", "16", "_range"}) {
      add_if_present(symbols, std::string("__tsan_") + access + size);
      add_if_present(symbols, std::string("__tsan_unaligned_") + access + size);
    }
  }
  for (const char* bits : {"8", "16", "32", "64"}) {
    for (const char* operation : {"load", "store", "exchange", "fetch_add",
                                  "fetch_sub", "compare_exchange_val"}) {
      add_if_present(symbols,
                     std::string("__tsan_atomic") + bits + "_" + operation);
    }
  }
  for (const char* name :
       {"__tsan_func_entry", "__tsan_func_exit", "__tsan_atomic_thread_fence",
        "__tsan_vptr_update", "__tsan_vptr_read"}) {
    add_if_present(symbols, name);
  }
  // The runtime of g++ 12 knows these under their usual names only, and
  // intercepts those.
  symbols.add("__tsan_memcpy", &std::memcpy);
  symbols.add("__tsan_memmove", &std::memmove);
  symbols.add("__tsan_memset", &std::memset);
  add_wide_access_symbols(symbols);
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

void add_sanitizer_symbols(SymbolTable& symbols) {
  switch (build_sanitizer()) {
    case Sanitizer::none:
      return;
    case Sanitizer::address:
      return add_address_symbols(symbols);
    case Sanitizer::thread:
      return add_thread_symbols(symbols);
  }
}

}  // namespace fxjit::jit
