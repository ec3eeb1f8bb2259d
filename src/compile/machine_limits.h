// What one core of this machine can do at best, measured once with generated
// code: the yardstick of profiles. Takes about a tenth of a second on first use.
#pragma once

#include <cstddef>

#include "src/compile/engine.h"

namespace fxjit {

struct MachineLimits {
  double gflops = 0;  // f32 multiply-adds, two operations each.
  // Bytes per nanosecond read in one stream from data of at most these sizes.
  struct Bandwidth {
    size_t bytes;
    double gigabytes;
  };
  Bandwidth near, middle, far;  // Second-level cache, third-level, memory.

  // Least time for a step on `threads` cores, in nanoseconds.
  double nanoseconds(const program::StepBody& body,
                     const program::KernelPlan& plan, int threads) const;
};

// Of the engine's CPU level. Thread-safe.
const MachineLimits& machine_limits(Engine& engine);

}  // namespace fxjit
