// The compiler and code cache that modules compiled with the same settings
// share. One per setting, kept for the life of the process.
#pragma once

#include "fxjit/compile.h"
#include "jit/program_compiler.h"

namespace fxjit {

class Engine {
 public:
  Engine(support::ObjectCacheOptions disk, const jit::EngineOptions& options);

  // The engine for `options`. Thread-safe.
  static Engine& shared(const CompileOptions& options);

  CpuLevel level() const { return compiler_.options().cpu_level; }
  const jit::Compiler& compiler() const { return compiler_; }
  jit::CodeCache& code() { return cache_; }

 private:
  support::ObjectCache disk_;
  jit::Compiler compiler_;
  jit::CodeCache cache_;
};

}  // namespace fxjit
