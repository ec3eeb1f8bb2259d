// What one core of this machine can do at best, measured once with generated
// code: the yardstick of profiles. Takes about a tenth of a second on first
// use.
#pragma once

#include <array>
#include <cstddef>

#include "src/compile/engine.h"

namespace fxjit {

struct MachineLimits {
  double gflops = 0;  // f32 multiply-adds, two operations each.
  // Bytes per nanosecond read in one stream from data of at most this size: of
  // the three levels of cache and, of any size, memory.
  struct Bandwidth {
    size_t bytes = 0;
    double gigabytes = 0;
  };
  std::array<Bandwidth, 4> levels;

  // Least time for a step on `threads` cores, in nanoseconds.
  double nanoseconds(const program::StepPlan& plan, int threads) const;
};

// The limits at the engine's CPU level. Thread-safe.
const MachineLimits& machine_limits(Engine& engine);

}  // namespace fxjit
