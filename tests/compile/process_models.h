// Models for the tests of forks, exits and small stacks: together they use the
// generated kernels, oneDNN's, plain loops, parts and the interpreter.
#pragma once

#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/value.h"

namespace fxjit::testing {

struct ProcessModel {
  const char* name;
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};

// `variant` changes a number in each, so that it needs kernels of its own.
std::vector<ProcessModel> process_models(int variant = 0);

}  // namespace fxjit::testing
