// The text of a Python file that defines a graph module as a torch.nn.Module,
// with the tensors that it reads from files beside it.
#pragma once

#include <string>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {

struct PythonModule {
  std::string text;
  // The content of kStateFile, and, unless empty, of kTensorsFile: tensors
  // outside the state dict.
  nn::StateDict state;
  nn::StateDict tensors;
};

inline constexpr const char* kStateFile = "state_dict.pt";
inline constexpr const char* kTensorsFile = "tensors.pt";

// Modules of torch.nn are constructed, nested graph modules and modules of the
// user become classes of their own (the latter by being traced). Whatever
// tracing throws is thrown on.
PythonModule python_module(const GraphModule& module,
                           const std::string& class_name);

}  // namespace fxjit::fx
