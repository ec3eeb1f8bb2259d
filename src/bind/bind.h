// The stage between planning and running: what a program specifies becomes code
// and memory. Kernels are generated or taken from the cache, routines and
// primitives are made, weights are packed or taken from the store.
#pragma once

#include "fxjit/thread_pool.h"
#include "jit/program_compiler.h"
#include "src/program/planning/planner.h"
#include "src/program/running/executable.h"
#include "src/weights/store.h"

namespace fxjit::bind {

// What programs share.
struct Tools {
  const jit::Compiler& compiler;
  jit::CodeCache& code;
  weights::Store& weights;
  support::ThreadPool& pool;
  const fx::LoopLimits& limits;  // What loops in programs may take.
};

// What binding took, with the bodies of branches and loops.
struct Cost {
  double pack_ms = 0;  // Weights: choosing formats and packing, in any form.
  jit::CompileTimings code;
  size_t code_bytes = 0;
  bool from_disk = false;  // All code that was not in memory before.
};

// Adds to `cost`. Thread-safe.
program::Executable::Parts bind(program::Plan plan, const Tools& tools,
                                Cost& cost);

}  // namespace fxjit::bind
