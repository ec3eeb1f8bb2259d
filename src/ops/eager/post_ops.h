// Reads epilogues as C++ loops and oneDNN's primitives take them: as a list of
// post-ops, each applied to the result of the one before and at most one more
// operand. Whatever runs such loops reads the list from the body; passes ask
// whether there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fxjit/scalar_body.h"

namespace fxjit::ops {

enum class PostKind : uint8_t {
  relu,
  leaky_relu,   // Negative numbers times a.
  prelu,        // Numbers that are not above a times the tensor's element.
  clip,         // Into [a, b].
  hardsigmoid,  // clip(x / 6 + 1 / 2, 0, 1)
  hardswish,    // x * hardsigmoid(x)
  sigmoid,
  silu,
  affine,    // x * a + b
  add,       // The tensor's element added.
  multiply,  // The tensor's element multiplied.
  gelu,      // Only for products.
};

struct PostOp {
  PostKind kind = PostKind::relu;
  float a = 0, b = 0;
  // The tensor that prelu, add and multiply read, counted from 0.
  int tensor = -1;

  bool operator==(const PostOp&) const = default;
};

using PostOps = std::vector<PostOp>;

// Reads an epilogue as post-ops; nullopt if it computes anything that these are
// not. Input 0 of the body is the sum, input i is tensor i - 1.
std::optional<PostOps> post_ops_of(const ScalarBody& epilogue);

// The same for an epilogue of a convolution, whose loops know no gelu.
std::optional<PostOps> conv_post_ops_of(const ScalarBody& epilogue);

}  // namespace fxjit::ops
