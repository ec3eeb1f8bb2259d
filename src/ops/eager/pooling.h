// Pooling in one canonical form, and the function behind the eager ones: what
// the backend has (backend.h), or plain loops. The pooling family and the
// lowering of Lowering::pool read calls with `pool_params`.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Max or average over windows of 1 to 3 spatial dims of [N, C, ...].
struct PoolParams {
  bool average = false;
  bool batched = true;   // Otherwise the call's input and result lack N.
  bool indices = false;  // The result is (values, positions in the plane).
  int spatial = 2;
  Dims kernel, stride, padding, dilation;
  // Averages: whether padding counts as elements, or a fixed divisor (0: none).
  bool count_include_pad = true;
  int64_t divisor = 0;
  Dims output;  // Sizes of the result, N included.
};

// Reads a call of any row with Lowering::pool; RuntimeError with torch's texts
// when shapes do not fit. Tensors may be meta.
PoolParams pool_params(const OpCall& call);

// input has the batch dim; `out` is contiguous.
// `positions` is undefined or a contiguous int64 tensor of the output's shape.
void run_pool(const PoolParams& params, const Tensor& input, const Tensor& out,
              const Tensor& positions);

}  // namespace fxjit::ops
