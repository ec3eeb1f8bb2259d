// Lets higher folders replace the loops of the interpreter's expensive ops: the
// kernels folder installs faster functions when the process starts. Without
// them the plain loops of this folder run.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

struct MatmulArgs;
struct ConvParams;
struct PoolParams;

// Each function computes the call and returns true, or returns false to leave
// it to the plain loop; a null function leaves all calls. Functions must be
// thread-safe and may be called from several threads at a time.
struct Backend {
  bool (*matmul)(const MatmulArgs& args) = nullptr;
  // run_conv and run_pool say what shapes the tensors have.
  bool (*conv)(const ConvParams& params, const Tensor& input,
               const Tensor& weight, const Tensor& bias,
               const Tensor& out) = nullptr;
  // Not called for pooling that also returns indices.
  bool (*pool)(const PoolParams& params, const Tensor& input,
               const Tensor& out) = nullptr;
};

// Installs `backend`, which must live until another one is installed, and
// returns the one before. Thread-safe.
const Backend& set_backend(const Backend& backend);
const Backend& backend();

}  // namespace fxjit::ops
