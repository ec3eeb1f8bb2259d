// Steps read as products of matrices.
#pragma once

#include <optional>

#include "fxjit/op.h"
#include "kernels/onednn/matmul.h"
#include "src/program/steps/steps.h"

namespace fxjit::kernels::onednn {

// A product, and which operand of the step is which.
struct Product {
  MatmulShape shape;
  int a = 0, weights = 1, bias = -1, output = 2;
  std::vector<MatmulPostOp> post_ops = {};
};

// linear, matmul, mm, bmm and addmm whose rows, and whose batches, lie as one dim
// of even steps; nothing for other calls. The tensors may be meta.
std::optional<Product> read_product(const ops::OpCall& call);

// A tile step of f32 whose epilogue oneDNN's post-ops can say: additions and
// gelu.
std::optional<Product> read_product(const program::TileStep& step);

}  // namespace fxjit::kernels::onednn
