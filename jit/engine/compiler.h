// The JIT engine: finished LLVM modules in, callable code out. Called by the
// code cache and by tests. Knows nothing of graphs, programs or ops.
//
//   IrModule -> verify -> optimise -> [sanitize] -> object -> link -> code
//
// One Compiler serves any number of threads at once. Code is linked against a
// closed symbol table and lies in pages that are never writable and executable
// at the same time.
#pragma once

#include <memory>
#include <string>

#include "jit/engine/compiled_code.h"
#include "jit/engine/engine_options.h"

namespace fxjit::jit {

class Linker;
struct IrModule;

// A compiled module as people read it.
struct CodeText {
  std::string ir;  // LLVM's, after optimisation.
  std::string assembly;
};

class Compiler {
 public:
  // Throws InternalError when LLVM has no back end for the host.
  explicit Compiler(EngineOptions options);
  ~Compiler();
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  // Compiles a module to an object. Throws InternalError with LLVM's text for
  // IR that does not verify or cannot be selected.
  CompiledObject compile(IrModule module) const;

  // What compile() would make of the module, as text, with its errors.
  CodeText text(IrModule module) const;

  // Links an object into this process. Symbols come from the object and from
  // runtime_symbol(), in this order; an unknown one is an InternalError naming
  // it. Throws RuntimeError when executable memory is denied.
  std::shared_ptr<CompiledCode> link(const CompiledObject& object) const;

  // Everything beside the module that determines the object's bytes: LLVM's
  // version, CPU, features, tuning, sanitizer. Part of every cache key.
  std::string code_key() const;
  // That of the code which serves every CPU of the level.
  std::string portable_code_key() const;

  const EngineOptions& options() const { return options_; }

 private:
  class Generators;

  std::string code_key(const std::string& tuning) const;

  EngineOptions options_;
  std::shared_ptr<Linker> linker_;
  std::unique_ptr<Generators> generators_;  // Thread-safe.
};

// LLVM's version, "19.1.7".
std::string llvm_version();
// LLVM's name for this machine's processor, "znver4".
std::string host_cpu_name();

}  // namespace fxjit::jit
