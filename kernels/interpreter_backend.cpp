// The interpreter's backend.
#include "kernels/kernels.h"
#include "kernels/onednn/eager.h"
#include "kernels/products/double_product.h"
#include "src/ops/eager/backend.h"

namespace fxjit::kernels {
namespace {

bool eager_matmul(const ops::MatmulArgs& args) {
  return eager_double_product(args) || onednn::eager_matmul(args);
}

constexpr ops::Backend kBackend{eager_matmul};

[[maybe_unused]] const bool given = (ops::set_backend(kBackend), true);

}  // namespace
}  // namespace fxjit::kernels
