// Inputs of the tests of attention in this folder.
#pragma once

#include "tests/passes/pass_matchers.h"

namespace fxjit {

// Queries, keys and values of 2 x 3 heads.
inline ValueList heads(int64_t queries = 5, int64_t keys = 7) {
  return {random_tensor({2, 3, queries, 8}, 1),
          random_tensor({2, 3, keys, 8}, 2), random_tensor({2, 3, keys, 4}, 3)};
}

inline ValueList with(ValueList inputs, const Tensor& more) {
  inputs.push_back(more);
  return inputs;
}

}  // namespace fxjit
