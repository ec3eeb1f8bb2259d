// First values of parameters. Layers draw them as torch's do; models whose
// weights come from a file build under SkipInit and spend nothing on them.
#pragma once

#include <cstdint>

#include "fxjit/tensor.h"

namespace fxjit::nn {

// Restarts this thread's generator of first values. Without it every thread
// starts with seed 0.
void manual_seed(uint64_t seed);

// While one lives, modules built in this thread get parameters without memory:
// shape and type only, to be filled by load_state_dict.
class SkipInit {
 public:
  SkipInit();
  ~SkipInit();
  SkipInit(const SkipInit&) = delete;
  SkipInit& operator=(const SkipInit&) = delete;

 private:
  bool previous_;
};

namespace init {

// New float32 tensors, or meta tensors under SkipInit.
Tensor constant(const Dims& sizes, double value);
Tensor uniform(const Dims& sizes, double bound);  // In [-bound, bound).
Tensor normal(const Dims& sizes);                 // Mean 0, deviation 1.

}  // namespace init
}  // namespace fxjit::nn
