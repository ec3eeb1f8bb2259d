// Recurrent layers whose steps make the product with their inputs themselves:
//
//   g = linear(x, w, b)                       y = recurrence([x], ...,
//   y = recurrence([g], ...)         ==>          input_weights=[w],
//                                                 input_biases=[b])
//
// where g is read only there, w is a constant, and this is faster.
#pragma once

#include "fxjit/cpu_level.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

// The facts of a machine that decide where the steps in time make the product
// faster.
struct RecurrentMachine {
  CpuLevel level;
  int threads;
  // Set where a separate product runs near the machine's peak, and weights come
  // so fast from the second-level cache, that making the product in the steps
  // gains nothing.
  bool fast_products = false;
};

// Rewrites a normalized graph; returns the number of layers.
int join_recurrent_inputs(ModelGraph& model, RecurrentMachine machine);

}  // namespace fxjit::passes
