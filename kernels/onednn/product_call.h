// A call of the op table read as a product of matrices.
#pragma once

#include <optional>

#include "fxjit/op.h"
#include "kernels/onednn/matmul.h"

namespace fxjit::kernels::onednn {

// The call as a product, and which operand is which.
struct Product {
  MatmulShape shape;
  int a = 0, weights = 1, bias = -1, output = 2;
};

// linear, matmul, mm, bmm and addmm whose rows, and whose batches, lie as one dim
// of even steps; nothing for other calls. The tensors may be meta.
std::optional<Product> read_product(const ops::OpCall& call);

}  // namespace fxjit::kernels::onednn
