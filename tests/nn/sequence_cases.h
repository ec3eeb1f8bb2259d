// Layers of several inputs as torch.nn computes them, recorded by
// reference/make_sequences.py.
#pragma once

#include <functional>
#include <vector>

#include "fxjit/nn.h"

namespace fxjit::nn {

struct SequenceCase {
  const char* name;
  std::function<ModuleRef()> make;
  const char* printed;  // Line breaks as "\n" in two characters.
  StateDict state;
  ValueList inputs;
  Kwargs kwargs;
  std::vector<Tensor> outputs;
};

std::vector<SequenceCase> sequence_cases();
// In evaluation, with the state of the case.
ModuleRef loaded(const SequenceCase& layer);
// Tensors of `result` in order, against the outputs of the case.
void expect_outputs(const Value& result, const SequenceCase& layer);

}  // namespace fxjit::nn
