// A call that a routine or a primitive is to compute.
#pragma once

#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/op.h"
#include "src/program/step_code.h"
#include "src/program/steps.h"

namespace fxjit::kernels {

// `args` hold meta tensors.
struct KernelRequest {
  const ops::Op& op;
  const ValueList& args;
  // One per tensor in `args`, in order of appearance; undefined unless the
  // tensor is a constant of the model.
  std::vector<Tensor> constants;
  ValueList results;  // Meta tensors.
  CpuLevel level = host_cpu_level();
};

}  // namespace fxjit::kernels
