// Constant matrices with a scale, and perhaps a zero point, for each block of
// rows or columns, as patterns of products see them.
#pragma once

#include <optional>

#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {

// The weight of a product of matrices, dequantised in blocks of its depth.
struct BlockedWeight {
  fx::NodePtr codes = nullptr;                  // A byte each.
  fx::NodePtr scale = nullptr, zero = nullptr;  // As codes; zero may be null.
  int64_t block = 0;
  bool by_column = false;  // [columns, blocks, block], else [blocks, block,
                           // columns].
};

// None for other nodes. `by_column`: the node is the matrix [columns, depth].
std::optional<BlockedWeight> blocked_weight(const ModelGraph& model,
                                            fx::NodePtr node, bool by_column);

// The product, in f32.
fx::NodePtr written_product(CallWriter& write, fx::NodePtr input,
                            const BlockedWeight& weight);

}  // namespace fxjit::passes
