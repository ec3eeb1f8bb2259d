// What computes the heavy ops of the interpreter: the faster functions of a
// higher box where one has given them, else the plain loops.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

struct MatmulArgs;
struct ConvParams;
struct PoolParams;

// Functions that compute a call, or give false to leave it to the plain loops;
// null ones leave all. They must be thread-safe.
struct Backend {
  bool (*matmul)(const MatmulArgs& args) = nullptr;
  // See run_conv and run_pool for what the tensors are.
  bool (*conv)(const ConvParams& params, const Tensor& input,
               const Tensor& weight, const Tensor& bias,
               const Tensor& out) = nullptr;
  // Not asked when indices are wanted.
  bool (*pool)(const PoolParams& params, const Tensor& input,
               const Tensor& out) = nullptr;
};

// Given by the kernels box when the process starts. `backend` must live until
// another takes its place. Gives the former one. Thread-safe.
const Backend& set_backend(const Backend& backend);
const Backend& backend();

}  // namespace fxjit::ops
