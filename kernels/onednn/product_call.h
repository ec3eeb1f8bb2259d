// Reads steps as products of matrices that oneDNN can compute.
#pragma once

#include <optional>

#include "fxjit/op.h"
#include "kernels/onednn/matmul.h"
#include "src/program/steps/steps.h"

namespace fxjit::kernels::onednn {

// A product, and the number of the step's operand for each of its parts.
struct Product {
  MatmulShape shape;
  int a = 0, weights = 1, bias = -1, output = 2;
  std::vector<MatmulPostOp> post_ops = {};
};

// Reads calls of linear, matmul, mm, bmm and addmm. The dims of rows, and those
// of the batch, must be one dim of one stride when they are flattened. None for
// other calls. Tensors may be meta.
std::optional<Product> read_product(const ops::OpCall& call);

// Reads an f32 tile step. None if its epilogue is more than additions and gelu,
// which oneDNN has as post-ops.
std::optional<Product> read_product(const program::TileStep& step);

}  // namespace fxjit::kernels::onednn
