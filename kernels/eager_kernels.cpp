#include "kernels/kernels.h"
#include "kernels/double_product.h"
#include "kernels/onednn/eager.h"
#include "kernels/pooling.h"
#include "src/ops/linked_kernels.h"

namespace fxjit {

// The link-time table of lower boxes: see src/ops/linked_kernels.h.
namespace ops {

bool linked_matmul(const MatmulArgs& args) {
  return kernels::eager_double_product(args) ||
         kernels::onednn::eager_matmul(args);
}

bool linked_conv(const ConvParams& params, const Tensor& input,
                 const Tensor& weight, const Tensor& bias, const Tensor& out) {
  return kernels::onednn::eager_conv(params, input, weight, bias, out);
}

bool linked_pool(const PoolParams& params, const Tensor& input,
                 const Tensor& out) {
  return kernels::eager_pool(params, input, out);
}

}  // namespace ops

namespace kernels {

void install_eager_kernels() {
  ops::set_matmul_kernel(ops::linked_matmul);
  ops::set_conv_kernel(ops::linked_conv);
  ops::set_pool_kernel(ops::linked_pool);
}

size_t eager_kernels_kept() {
  return onednn::matmuls_kept() + onednn::convolutions_kept();
}

size_t most_eager_kernels_kept() {
  return onednn::kMostMatmuls + onednn::kMostConvolutions;
}

}  // namespace kernels
}  // namespace fxjit
