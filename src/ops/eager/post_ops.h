// Elementwise work that a convolution does to its sums before it stores them,
// as data: passes write it into a call's arguments, kernels read it.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::ops {

enum class PostKind : uint8_t {
  relu,
  leaky_relu,   // Negative numbers times a.
  clip,         // Into [a, b].
  hardsigmoid,  // clip(x / 6 + 1 / 2, 0, 1)
  hardswish,    // x * hardsigmoid(x)
  sigmoid,
  silu,
  affine,    // x * a + b
  add,       // The tensor's element added.
  multiply,  // The tensor's element multiplied.
};

struct PostOp {
  PostKind kind = PostKind::relu;
  float a = 0, b = 0;
  // Of add and multiply: which of the call's extra tensors. It has the
  // result's shape and layout or one element for each channel.
  int tensor = -1;

  bool operator==(const PostOp&) const = default;
};

using PostOps = std::vector<PostOp>;

// A tuple with a tuple of numbers for each; None stands for no work at all.
Value to_value(const PostOps& work);
PostOps post_ops_of(const Value& value);

}  // namespace fxjit::ops
