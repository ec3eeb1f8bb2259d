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
  jit::ProgramCode compile(const program::Program& program, int max_threads) {
    return jit::compile_program(program, compiler_, cache_, max_threads);
  }
  jit::ProgramText text(const program::Program& program, int max_threads) {
    return jit::program_text(program, compiler_, max_threads);
  }

 private:
  support::ObjectCache disk_;
  jit::Compiler compiler_;
  jit::CodeCache cache_;
};

}  // namespace fxjit
