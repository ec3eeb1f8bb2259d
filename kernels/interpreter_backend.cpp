// The interpreter's products.
#include "kernels/kernels.h"
#include "kernels/onednn/eager.h"
#include "kernels/products/double_product.h"
#include "src/ops/eager/backend.h"

namespace fxjit::kernels {
namespace {

bool eager_matmul(const ops::MatmulArgs& args) {
  return eager_double_product(args) || onednn::eager_matmul(args);
}

[[maybe_unused]] const bool given =
    (ops::set_matmul_backend(eager_matmul), true);

}  // namespace
}  // namespace fxjit::kernels
