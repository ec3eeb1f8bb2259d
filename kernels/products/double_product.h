// Products in f64, which oneDNN does not have.
#pragma once

#include "src/ops/eager/matmul.h"

namespace fxjit::kernels {

// A part of the ops::Backend; false for other types and small products.
bool eager_double_product(const ops::MatmulArgs& args);

}  // namespace fxjit::kernels
