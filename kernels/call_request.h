// The request for the code of one call: a routine or a primitive. Made by
// src/bind, read by the factories of this folder.
#pragma once

#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/op.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"
#include "src/weights/packer.h"

namespace fxjit::kernels {

// `args` and `results` hold meta tensors with the shapes, dtypes and strides of
// the operands.
struct CallRequest {
  const ops::Op& op;
  const ValueList& args;
  // For each tensor in `args`, in order of appearance: the tensor itself if it
  // is a constant of the model, else undefined.
  std::vector<Tensor> constants;
  ValueList results;  // Meta tensors.
  CpuLevel level = host_cpu_level();
  weights::Packer* packer = nullptr;       // There if one of `constants` is.
  const program::RowStep* tail = nullptr;  // See CallSpec::tail.

  // Constant `i`, packed as `format` says; null if the tensor is no constant.
  weights::Block packed(size_t i, const weights::OwnFormat& format) const {
    return constants[i].defined() ? packer->get(constants[i], format) : nullptr;
  }
};

}  // namespace fxjit::kernels
