// From steps to kernels: each different kernel of a program becomes a function
// of its own module, compiled or taken from the cache. The only entry to jit/:
// src/bind has programs compiled, src/compile keeps the compiler and its cache
// and asks for text. Free of LLVM's headers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/engine/code_cache.h"
#include "src/program/driver/form.h"
#include "src/program/steps/program.h"
#include "src/program/steps/step_code.h"

namespace fxjit::jit {

struct ProgramCode {
  std::vector<program::StepCode> kernels;  // One per step.
  program::DriverFn driver = nullptr;
  std::vector<std::shared_ptr<const CompiledCode>> code;  // Keeps them alive.
  // What the code that was not in memory before cost: sums over threads, its
  // bytes, and whether all of it came from disk.
  CompileTimings timings;
  size_t fresh_bytes = 0;
  bool from_disk = false;
};

// The kernels of the program's steps, and its driver unless `driver` is null.
// Thread-safe. Throws InternalError when LLVM fails, RuntimeError when
// executable memory is denied.
ProgramCode compile_program(const program::Program& program,
                            const program::DriverForm* driver,
                            const Compiler& compiler, CodeCache& cache,
                            int max_threads);

// The kernels of a program as people read them, each different one once.
struct ProgramText {
  struct Kernel {
    std::string symbol;
    CodeText text;
  };
  std::vector<Kernel> kernels;
  std::vector<std::vector<int32_t>> of_step;  // By step, into `kernels`.
  Kernel driver;
};

// Emits and optimises every kernel anew, caches aside. As compile_program.
ProgramText program_text(const program::Program& program,
                         const program::DriverForm& driver,
                         const Compiler& compiler, int max_threads);

}  // namespace fxjit::jit
