// The table through which a program's link hands in the eager kernels: the
// kernels box defines these functions. Where it is not linked (tests of lower
// boxes) they are null, and the plain loops serve.
#pragma once

#include "src/ops/conv_kernel.h"
#include "src/ops/matmul_kernel.h"
#include "src/ops/pool_kernel.h"

namespace fxjit::ops {

[[gnu::weak]] bool linked_matmul(const MatmulArgs& args);
[[gnu::weak]] bool linked_conv(const ConvParams& params, const Tensor& input,
                               const Tensor& weight, const Tensor& bias,
                               const Tensor& out);
[[gnu::weak]] bool linked_pool(const PoolParams& params, const Tensor& input,
                               const Tensor& out);

}  // namespace fxjit::ops
