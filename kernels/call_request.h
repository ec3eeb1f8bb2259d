// A call that a routine or a primitive is to compute.
#pragma once

#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/op.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"
#include "src/weights/packer.h"

namespace fxjit::kernels {

// `args` hold meta tensors.
struct CallRequest {
  const ops::Op& op;
  const ValueList& args;
  // One per tensor in `args`, in order of appearance; undefined unless the
  // tensor is a constant of the model.
  std::vector<Tensor> constants;
  ValueList results;  // Meta tensors.
  CpuLevel level = host_cpu_level();
  weights::Packer* packer = nullptr;       // There if one of `constants` is.
  const program::RowStep* tail = nullptr;  // See CallSpec::tail.

  // Constant `i` in a form; null where the tensor is no constant.
  weights::Block packed(size_t i, const weights::Form& form) const {
    return constants[i].defined() ? packer->get(constants[i], form) : nullptr;
  }
};

}  // namespace fxjit::kernels
