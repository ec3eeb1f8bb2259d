// What the tests of passes share: running the passes on a traced function, the
// regions that came out, and an evaluator of every form by eager functions, so
// that a rewrite is held against the captured graph without generated code.
#pragma once

#include <string>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "src/passes/model_graph.h"
#include "src/passes/pipeline.h"

namespace fxjit::testing {

// f32, uniform in [-1, 1).
Tensor random_tensor(const Dims& sizes, uint32_t seed = 1);
// Elements of [0, bound).
Tensor random_index(const Dims& sizes, int64_t bound, uint32_t seed = 1);

struct Passed {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
  passes::ModelGraph model;          // After the last pass.
  std::vector<std::string> changed;  // Passes that changed something.
};

// All passes but the disabled ones.
Passed run_passes(nn::Ref<fx::GraphModule> module, ValueList inputs,
                  std::vector<std::string> disabled = {});
Passed run_passes_with(passes::PipelineOptions options,
                       nn::Ref<fx::GraphModule> module, ValueList inputs);

// `f` is a function of so many Values.
template <typename F>
nn::Ref<fx::GraphModule> trace(F f, size_t inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs; ++i)
    names.emplace_back("x" + std::to_string(i));
  return fx::symbolic_trace(f, nn::Signature(names), "f");
}

template <typename F>
Passed run_passes(F f, ValueList inputs,
                  std::vector<std::string> disabled = {}) {
  return run_passes(trace(f, inputs.size()), inputs, std::move(disabled));
}

// "contraction: contract+add+gelu" for each region, in the order of the graph.
// Ops keep the order in which they were captured.
std::vector<std::string> regions(const passes::ModelGraph& model);
// Canonical names of the calls of a normalised or lowered graph, in order,
// views left out.
std::vector<std::string> calls(const passes::ModelGraph& model);

// The result of a model of any form for these inputs, by eager functions.
Value evaluate(const passes::ModelGraph& model, const ValueList& inputs);

// Empty when the model gives the captured graph's result: structure, dtypes,
// sizes and strides equal, floats within 1e-5 relative + 1e-6.
std::string wrong_result(const Passed& passed);

}  // namespace fxjit::testing
