// The parameters of any pooling in one struct, and the eager function that
// computes it. Shape rules of the pooling family and the lowering of pooling
// read calls by `pool_params`.
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

// Reads a call of any row with Lowering::pool. Throws RuntimeError with torch's
// text if shapes do not fit. Tensors may be meta.
PoolParams pool_params(const OpCall& call);

// Computes the pooling. input: [N, C, ...]; out: contiguous, of the shape
// `params.output`; positions: undefined, or contiguous i64 of the same shape,
// for the place of each maximum in its plane.
void run_pool(const PoolParams& params, const Tensor& input, const Tensor& out,
              const Tensor& positions);

}  // namespace fxjit::ops
