// The stage between planning and running: it makes code and memory of what a
// program specifies. Kernels are generated or taken from the cache, routines
// and primitives are made, weights are packed or taken from the store. Called
// by src/compile for each new program.
#pragma once

#include "fxjit/thread_pool.h"
#include "jit/program_compiler.h"
#include "src/program/planning/planner.h"
#include "src/program/running/executable.h"
#include "src/weights/store.h"

namespace fxjit::bind {

// What the programs of a module share. All references must outlive the
// executables.
struct Tools {
  const jit::Compiler& compiler;
  jit::CodeCache& code;
  weights::Store& weights;
  support::ThreadPool& pool;
  const fx::LoopLimits& limits;  // What loops in programs may take.
};

// The time and memory that binding took, including the bodies of branches and
// loops.
struct Cost {
  // Choosing the formats of weights and packing them, for tile loops, routines
  // and primitives.
  double pack_ms = 0;
  jit::CompileTimings code;
  size_t code_bytes = 0;
  bool from_disk = false;  // All code that was not in memory before.
};

// Makes the parts of the program's executable and adds to `cost`. Thread-safe.
program::Executable::Parts bind(program::Plan plan, const Tools& tools,
                                Cost& cost);

}  // namespace fxjit::bind
