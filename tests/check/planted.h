// Faults behind passes, and functions that these passes change.
#pragma once

#include <string>
#include <vector>

#include "fxjit/check.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "src/passes/pipeline.h"

namespace fxjit::testing {

// Behind `pass`, the first call of `op` gives its result with the other sign:
// in the graph, or in the first region of several calls that has one.
passes::PassHooks planted(const std::string& pass, const std::string& op);

// One thread, no disk cache.
CheckOptions quick();

// Uniform in [-1, 1).
Tensor random_numbers(const Dims& sizes, uint32_t seed = 1);

// `f` is a function of so many Values.
template <typename Fn>
nn::Ref<fx::GraphModule> traced(Fn f, size_t inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs; ++i)
    names.emplace_back("x" + std::to_string(i));
  return fx::symbolic_trace(f, nn::Signature(names), "f");
}

}  // namespace fxjit::testing
